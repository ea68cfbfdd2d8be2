// SPDX-License-Identifier: Apache-2.0
// What is read of machines: this one, synthetic ones, and descriptions of real ones.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <utility>

#include "coset/detail/line_spacing.hpp"
#include "numa/child.hpp"
#include "numa/describe.hpp"
#include "numa/machines.hpp"
#include "numa/share.hpp"

namespace coset::numa_test {
namespace {

std::set<unsigned> values(topology const& machine, unsigned processor::*what) {
  std::set<unsigned> result;
  for (auto const& each : machine.processors) result.insert(each.*what);
  return result;
}

std::size_t count(topology const& machine, unsigned processor::*what) { return values(machine, what).size(); }

// Numbers from 0 without gaps.
void expect_consecutive(topology const& machine, unsigned processor::*what, char const* name) {
  EXPECT_EQ(*values(machine, what).rbegin() + 1, count(machine, what)) << machine.name << ": " << name;
}

// Whoever shares `part` also shares `whole`.
void expect_nested(topology const& machine, unsigned processor::*part, unsigned processor::*whole, char const* name) {
  std::map<unsigned, unsigned> whole_of;
  for (auto const& each : machine.processors)
    EXPECT_EQ(whole_of.try_emplace(each.*part, each.*whole).first->second, each.*whole) << machine.name << ": " << name;
}

TEST(Topology, EveryMachineIsNumberedWithoutGapsAndItsLevelsNest) {
  for (auto const& machine : all_machines()) {
    ASSERT_FALSE(machine.processors.empty()) << machine.name;
    EXPECT_EQ(count(machine, &processor::os_index), machine.processors.size()) << machine.name;
    EXPECT_EQ(count(machine, &processor::node), machine.nodes.size()) << machine.name;
    EXPECT_EQ(count(machine, &processor::core), machine.cores()) << machine.name;
    expect_consecutive(machine, &processor::core, "core");
    expect_consecutive(machine, &processor::l2, "l2");
    expect_consecutive(machine, &processor::l3, "l3");
    expect_consecutive(machine, &processor::node, "node");
    expect_consecutive(machine, &processor::package, "package");
    expect_consecutive(machine, &processor::kind, "kind");
    expect_nested(machine, &processor::l3, &processor::node, "L3 in node");
    expect_nested(machine, &processor::l2, &processor::l3, "L2 in L3");
    expect_nested(machine, &processor::core, &processor::l3, "core in L3");
    EXPECT_FALSE(machine.this_system) << machine.name;
  }
}

TEST(Topology, ProcessorsOfANodeAreConsecutiveAndThreadsOfACoreCountUp) {
  for (auto const& machine : all_machines()) {
    std::map<unsigned, unsigned> threads;
    unsigned node = 0;
    for (auto const& each : machine.processors) {
      EXPECT_TRUE(each.node == node || each.node == node + 1) << machine.name << " at processor " << each.os_index;
      node = each.node;
      EXPECT_EQ(each.thread, threads[each.core]++) << machine.name << " at processor " << each.os_index;
    }
  }
}

TEST(Topology, SyntheticMachinesHaveTheCountsTheirDescriptionsSay) {
  EXPECT_GE(shapes.size(), 30U);
  for (auto const& expected : shapes) {
    auto const machine = topology::synthetic(expected.description);
    EXPECT_EQ(machine.name, expected.description);
    EXPECT_EQ(machine.processors.size(), expected.processors) << machine.name;
    EXPECT_EQ(machine.cores(), expected.cores) << machine.name;
    EXPECT_EQ(count(machine, &processor::l2), expected.l2s) << machine.name;
    EXPECT_EQ(count(machine, &processor::l3), expected.l3s) << machine.name;
    EXPECT_EQ(machine.nodes.size(), expected.nodes) << machine.name;
    EXPECT_EQ(count(machine, &processor::package), expected.packages) << machine.name;
    EXPECT_EQ(count(machine, &processor::kind), 1U) << machine.name;
  }
}

struct facts {
  char const* file;
  unsigned processors, cores, l3s, packages, kinds;
  std::vector<unsigned> nodes;  // their OS indices, in order
};

std::vector<unsigned> up_to(unsigned end) {
  std::vector<unsigned> result;
  for (unsigned i = 0; i < end; ++i) result.push_back(i);
  return result;
}

// Counted by hand from the descriptions. Where a machine tells of no L3, packages stand for them.
std::vector<facts> const known = {
    {"128ia64-17n4s2c.xml", 128, 128, 63, 64, 1, up_to(16)},  // node 16 has no processors; only two packages tell of L3
    {"16amd64-8n2c-cpusets.xml", 10, 10, 5, 6, 1, {1, 2, 3}},  // memory of nodes 1 to 4 allowed, 4 without processors
    {"192em64t-24n8c2t.xml", 384, 192, 24, 24, 1, up_to(24)},
    {"256ia64-64n2s2c.xml", 256, 256, 127, 128, 1, up_to(64)},  // two packages under one L3, the others tell of none
    {"32amd64-4s2n4c-cgroup2.xml", 6, 6, 2, 1, 1, {0, 1}},      // nodes 2 to 7 lost their processors
    {"48amd64-4d2n6c-sparse.xml", 48, 48, 8, 4, 1, {0, 1, 2, 33, 34, 45, 72, 73}},
    {"64intel64-3g2n+2n-irregulargroups+pci.xml", 16, 16, 2, 2, 1, {0, 1}},
    {"64intel64-fakeKNL-SNC4-hybrid.xml", 64, 16, 4, 1, 1, {0, 1, 2, 3}},  // 4 to 7 are high-bandwidth
    {"96em64t-4n4d3ca2co.xml", 96, 96, 16, 16, 1, up_to(4)},
    {"AMD-19h-Zen3-2xEpyc-7763.xml", 128, 128, 16, 2, 1, {0}},
    {"fakeheterocpunuma.xml", 24, 12, 4, 2, 2, {0, 1, 3}},  // node 2 encloses 0 and 1, which are nearer
    {"fakeheteromemtiers.xml", 6, 6, 2, 1, 1, {0, 1}},      // processors 4 and 5 have no ordinary memory of their own
    {"fakememinitiators-1np2c+1npp+gi.xml", 8, 8, 4, 2, 1, {5, 6, 8, 9}},
    {"nvidiagpunumanodes.xml", 32, 8, 4, 2, 1, {0, 8}},
    {"offline-cpu0-node0.xml", 17, 17, 2, 2, 1, {1}},
};

TEST(Topology, RealMachinesReadAsTheyAre) {
  unsigned read = 0;
  for (auto const& expected : known) {
    if (!has_real_machine(expected.file)) continue;
    ++read;
    auto const machine = real_machine(expected.file);
    EXPECT_EQ(machine.name, expected.file);
    EXPECT_EQ(machine.processors.size(), expected.processors) << machine.name;
    EXPECT_EQ(machine.cores(), expected.cores) << machine.name;
    EXPECT_EQ(count(machine, &processor::l3), expected.l3s) << machine.name;
    EXPECT_EQ(count(machine, &processor::package), expected.packages) << machine.name;
    EXPECT_EQ(count(machine, &processor::kind), expected.kinds) << machine.name;
    std::vector<unsigned> nodes;
    for (auto const& node : machine.nodes) nodes.push_back(node.os_index);
    EXPECT_EQ(nodes, expected.nodes) << machine.name;
  }
  std::cout << "read " << read << " of " << known.size() << " known and " << real_machines().size()
            << " descriptions in all under " COSET_MACHINES "\n";
}

// An invented machine, everything odd at once: high-bandwidth memory (node 0) before ordinary memory (1), processors
// with nothing but device memory (12), a node without processors (20), a processor that is not allowed (5), capacities
// of 512 and 1024, distances 10 to 34 row by row, a core whose cache has lines of 512 bytes.
class OddMachine : public ::testing::Test {
 protected:
  static std::vector<unsigned> each(unsigned processor::*what) {
    std::vector<unsigned> result;
    for (auto const& p : topology::xml(COSET_ODD_MACHINE).processors) result.push_back(p.*what);
    return result;
  }
};

TEST_F(OddMachine, GivesScratchOnlyInOrdinaryMemoryAndTheNearest) {
  auto const machine = topology::xml(COSET_ODD_MACHINE);
  ASSERT_EQ(machine.nodes.size(), 2U);
  EXPECT_EQ(machine.nodes[0].os_index, 1U);
  EXPECT_EQ(machine.nodes[1].os_index, 21U);
  EXPECT_EQ(machine.nodes[1].bytes, 1U << 30);
  EXPECT_EQ(each(&processor::os_index), (std::vector<unsigned>{0, 1, 2, 3, 4, 6}));
  EXPECT_EQ(each(&processor::node), (std::vector<unsigned>{0, 0, 0, 0, 1, 1}));
  EXPECT_EQ(each(&processor::package), (std::vector<unsigned>{0, 0, 1, 1, 2, 2}));
}

TEST_F(OddMachine, KeepsTheDistancesOfNodesInUse) {
  EXPECT_EQ(topology::xml(COSET_ODD_MACHINE).distances, (std::vector<std::vector<unsigned>>{{16, 19}, {31, 34}}));
}

TEST_F(OddMachine, CallsTheCapableKindOfCoreKindZero) {
  EXPECT_EQ(each(&processor::kind), (std::vector<unsigned>{1, 1, 1, 1, 0, 0}));
}

TEST_F(OddMachine, TellsOfTheLongestLineAndWarnsOfIt) {
  auto machine = topology::xml(COSET_ODD_MACHINE);
  EXPECT_EQ(machine.line_bytes, 512U);
  EXPECT_NE(numa::line_warning(machine).find("512"), std::string::npos);
  machine.line_bytes = detail::line_spacing;
  EXPECT_EQ(numa::line_warning(machine), "");
}

TEST_F(OddMachine, TellsWhoseItsProcessorsAre) {
  auto const odd = topology::xml(COSET_ODD_MACHINE), made = topology::synthetic("core:2 pu:1");
  EXPECT_EQ(odd.vendor, "GenuineIntel");
  EXPECT_EQ(odd.family, 6u);
  EXPECT_EQ(made.vendor, "");
  EXPECT_EQ(made.family, 0u);
}

TEST(Topology, CacheLinesAreOfUnknownLengthWithoutCaches) {
  EXPECT_EQ(topology::synthetic("core:2 pu:1").line_bytes, 0U);
  EXPECT_EQ(topology::synthetic("l2:1 core:2 pu:1").line_bytes, 64U);
}

TEST(Topology, ThisMachineIsThisSystem) {
  auto const machine = topology::machine();
  EXPECT_TRUE(machine.this_system);
  EXPECT_LE(machine.processors.size(), topology::whole_machine().processors.size());
}

template <typename Read>
void expect_refused(Read read, std::string const& named) {
  try {
    read();
    FAIL() << named << " was read";
  } catch (topology_error const& error) {
    EXPECT_NE(std::string(error.what()).find(named), std::string::npos) << error.what();
  }
}

TEST(Topology, UnreadableDescriptionsAreNamed) {
  for (std::string const text : {"", "nonsense:2", "core:", "core:-1 pu:1", "core:0 pu:1", "pu:1 core:2"})
    expect_refused([&] { topology::synthetic(text); }, "\"" + text + "\"");
  expect_refused([] { topology::xml("/no/such/file.xml"); }, "/no/such/file.xml");

  auto const broken = ::testing::TempDir() + "broken.xml";
  std::ofstream(broken) << "<topology><object";
  expect_refused([&] { topology::xml(broken); }, broken);
}

TEST(Topology, DescriptionsThatAreNoFilesAreRefused) {
  auto const pipe = ::testing::TempDir() + "pipe.xml";
  std::filesystem::remove(pipe);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  expect_refused([&] { topology::xml(pipe); }, pipe + " is a pipe or device, not a file");
  expect_refused([] { topology::xml("/"); }, "/ is a directory");
  expect_refused([] { topology::xml("-"); }, "- cannot be read: ");
}

/// A machine that the environment describes, by settings "NAME=value", in a process of its own.
class OtherMachine {
 public:
  explicit OtherMachine(std::vector<std::string> settings) : settings_(std::move(settings)) {}

  bool has_processors(std::size_t number) const {
    return in_child([&] {
      set();
      return topology::machine().processors.size() == number;
    });
  }
  bool is_read() const {
    return in_child([&] {
      set();
      return !topology::machine().processors.empty();
    });
  }
  bool is_refused_with(std::string const& reason) const {
    return in_child([&] {
      set();
      expect_refused([] { topology::machine(); }, reason);
      expect_refused([] { numa::machine_for(2); }, reason);
      return !::testing::Test::HasFailure();
    });
  }

 private:
  void set() const {
    for (auto const& each : settings_) {
      auto const equals = each.find('=');
      setenv(each.substr(0, equals).c_str(), each.substr(equals + 1).c_str(), 1);
    }
  }

  std::vector<std::string> settings_;
};

/// hwloc shows this machine where it cannot read the other one.
TEST(Topology, OfTheEnvironmentThatCannotBeReadIsRefusedByNameAndValue) {
  auto const broken = ::testing::TempDir() + "broken_too.xml", pipe = ::testing::TempDir() + "pipe_too.xml";
  std::ofstream(broken) << "<topology><object";
  std::filesystem::remove(pipe);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  auto const empty = ::testing::TempDir() + "no_machine";
  std::filesystem::create_directories(empty);
  auto const without = ::testing::TempDir() + "no_processors";
  std::filesystem::create_directories(without + "/sys/devices/system/cpu/cpu0");
  for (std::string const setting :
       {"HWLOC_XMLFILE=/no/such/file.xml", "HWLOC_XMLFILE=/", "HWLOC_SYNTHETIC=nonsense:2",
        "HWLOC_SYNTHETIC=core:", "HWLOC_FSROOT=/no/such/folder", "HWLOC_CPUID_PATH=/no/such/folder"})
    EXPECT_TRUE(OtherMachine({setting}).is_refused_with(setting)) << setting;
  for (std::string const& setting :
       {"HWLOC_XMLFILE=" + broken, "HWLOC_XMLFILE=" + pipe, "HWLOC_FSROOT=" + empty, "HWLOC_FSROOT=" + without,
        "HWLOC_CPUID_PATH=" + empty, "HWLOC_FSROOT=" + broken, "HWLOC_CPUID_PATH=" + broken})
    EXPECT_TRUE(OtherMachine({setting}).is_refused_with(setting)) << setting;
  EXPECT_TRUE(OtherMachine({"HWLOC_COMPONENTS=stop"}).is_refused_with("with HWLOC_COMPONENTS=stop"));
}

TEST(Topology, OfTheEnvironmentStandsInForThisMachine) {
  std::string const odd = "HWLOC_XMLFILE=" COSET_ODD_MACHINE;
  EXPECT_TRUE(OtherMachine({"HWLOC_SYNTHETIC=core:3 pu:1"}).has_processors(3));
  EXPECT_TRUE(OtherMachine({odd}).has_processors(6));
  EXPECT_TRUE(OtherMachine({odd, "HWLOC_SYNTHETIC=core:3 pu:1"}).has_processors(3)) << "hwloc's order";
  EXPECT_TRUE(OtherMachine({odd, "HWLOC_THISSYSTEM=1"}).is_read());
  EXPECT_TRUE(OtherMachine({odd, "HWLOC_COMPONENTS=-linux"}).has_processors(6));
  auto const copy = ::testing::TempDir() + "copied_machine";
  std::filesystem::remove_all(copy);
  std::filesystem::create_directories(copy);
  for (char const* const part : {"sys", "proc"})
    std::filesystem::create_symlink(std::string("/") + part, copy + "/" + part);
  EXPECT_TRUE(OtherMachine({"HWLOC_FSROOT=" + copy}).has_processors(topology::whole_machine().processors.size()));
  EXPECT_TRUE(OtherMachine({"HWLOC_FSROOT=/"}).has_processors(topology::machine().processors.size()));
}

TEST(Topology, DescriptionsByANewerHwlocAreCalledThat) {
  std::ifstream odd(COSET_ODD_MACHINE);
  std::string text(std::istreambuf_iterator<char>(odd), {});
  std::string const version = "<topology version=\"";
  text.replace(text.find(version) + version.size(), 1, "9");
  auto const newer = ::testing::TempDir() + "newer.xml";
  std::ofstream(newer) << text;
  expect_refused([&] { topology::xml(newer); }, newer + ": it is from hwloc 9, and this is hwloc ");
}

// From 2.10 on hwloc reads what hwloc 3 writes, and hwloc 3 does not read what hwloc 1 wrote.
TEST(Topology, DescriptionsByOtherHwlocsAreReadOrBothVersionsAreNamed) {
  auto const old = ::testing::TempDir() + "old.xml";
  std::string const everywhere =
      R"( os_index="0" cpuset="0x1" complete_cpuset="0x1" online_cpuset="0x1" allowed_cpuset="0x1")";
  std::ofstream(old) << "<topology>\n<object type=\"Machine\"" << everywhere << "><object type=\"PU\"" << everywhere
                     << "/></object>\n</topology>\n";
  auto const read_or_refused = [](std::string const& file, std::vector<unsigned> const& expected, char const* writer) {
    std::vector<unsigned> found;
    try {
      for (auto const& each : topology::xml(file).processors) found.push_back(each.os_index);
      EXPECT_EQ(found, expected) << file;
    } catch (topology_error const& error) {
      auto const reason = file + ": it is from hwloc " + writer + ", and this is hwloc ";
      EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
      std::cout << error.what() << '\n';
    }
  };
  read_or_refused(old, {0}, "1");
  read_or_refused(COSET_ODD_MACHINE_OF_3, {0, 1, 2, 3, 4, 6}, "3.0.0a1-git");
}

TEST(Topology, KnowsWhetherTheMachineTellsOfL3Caches) {
  EXPECT_TRUE(topology::synthetic("pack:2 l3:1 core:4 pu:1").has_l3);
  EXPECT_FALSE(topology::synthetic("pack:2 l2:4 core:1 pu:1").has_l3);
  EXPECT_EQ(numa::describe(topology::synthetic("pack:2 core:4 pu:1")).find("L3"), std::string::npos);
}

TEST(Topology, DescriptionsForPeopleHaveALinePerNodeAndTheTotals) {
  auto const text = numa::describe(topology::synthetic("pack:2 node:1 l3:4 core:8 pu:2"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5);
  std::istringstream last_line(text.substr(text.rfind("all")));
  std::string label;
  std::vector<unsigned> totals(6);
  last_line >> label;
  for (auto& total : totals) last_line >> total;
  EXPECT_EQ(totals, (std::vector<unsigned>{2, 8, 64, 64, 128, 1})) << text;
}

}  // namespace
}  // namespace coset::numa_test
