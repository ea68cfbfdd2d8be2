// SPDX-License-Identifier: Apache-2.0
// Kinds of memory: which tier each memory is, and which one processors get for each kind.
#include "numa/kinds.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "coset/coset.hpp"
#include "numa/describe.hpp"
#include "numa/machines.hpp"

namespace coset::numa_test {
namespace {

using enum memory_tier;

/// A memory of one core, or of no processor, whose OS index is its place among the others.
struct memory_row {
  std::string subtype = "";
  unsigned bandwidth = 0, latency = 0;  ///< 0: the firmware says nothing
  unsigned mebibytes = 1024;
  bool has_processors = true;
};

std::string hex_of(unsigned bits) { return "\"0x" + (bits == 0xf ? "f" : std::to_string(bits)) + "\""; }

std::string sets_of(bool has_processors, std::string const& nodes) {
  std::string const cpus = hex_of(has_processors ? 1 : 0);
  return " cpuset=" + cpus + " complete_cpuset=" + cpus + " nodeset=" + nodes + " complete_nodeset=" + nodes;
}

std::string memattr_of(std::string const& name, unsigned flags, std::vector<memory_row> const& memories,
                       unsigned memory_row::*value) {
  std::string text = "<memattr name=\"" + name + "\" flags=\"" + std::to_string(flags) + "\">";
  for (std::size_t m = 0; m < memories.size(); ++m) {
    if (memories[m].*value == 0) continue;
    text += "<memattr_value target_obj_type=\"NUMANode\" target_obj_gp_index=\"" + std::to_string(10 + m) +
            "\" value=\"" + std::to_string(memories[m].*value) + "\" initiator_cpuset=\"0x1\"/>";
  }
  return text + "</memattr>\n";
}

/// hwloc's description of a machine of one core and four of these memories at most.
topology machine_of(std::vector<memory_row> const& memories) {
  auto const all = hex_of((1u << memories.size()) - 1);
  std::string rest,
      text = "<?xml version=\"1.0\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology version=\"2.0\">\n";
  text += "<object type=\"Machine\" os_index=\"0\" gp_index=\"1\"" + sets_of(true, all) +
          " allowed_cpuset=\"0x1\" allowed_nodeset=" + all + ">\n";
  for (std::size_t m = 0; m < memories.size(); ++m) {
    memory_row const& each = memories[m];
    std::string const own = hex_of(1u << m), index = std::to_string(m);
    std::string const node = "<object type=\"NUMANode\" os_index=\"" + index + "\" gp_index=\"" +
                             std::to_string(10 + m) + "\"" + sets_of(each.has_processors, own) + " local_memory=\"" +
                             std::to_string(std::uint64_t{each.mebibytes} << 20) + "\"" +
                             (each.subtype.empty() ? "" : " subtype=\"" + each.subtype + "\"") + "/>\n";
    // hwloc wants what has no processors last.
    if (each.has_processors)
      text += node;
    else
      rest += "<object type=\"Group\" gp_index=\"" + std::to_string(20 + m) + "\"" + sets_of(false, own) + ">" + node +
              "</object>\n";
  }
  text += "<object type=\"PU\" os_index=\"0\" gp_index=\"2\"" + sets_of(true, all) + "/>\n" + rest + "</object>\n";
  text += memattr_of("Bandwidth", 5, memories, &memory_row::bandwidth) +
          memattr_of("Latency", 6, memories, &memory_row::latency) + "</topology>\n";
  std::string const file = ::testing::TempDir() + "kinds" + std::to_string(getpid()) + ".xml";
  std::ofstream(file) << text;
  auto machine = topology::xml(file);
  EXPECT_EQ(unlink(file.c_str()), 0);
  return machine;
}

std::vector<memory_tier> tiers_in(topology const& machine) {
  std::vector<memory_tier> all(machine.memories.size());
  for (node_memory const& each : machine.memories) all.at(each.node.os_index) = each.tier;
  return all;
}

std::vector<unsigned> best_memories(topology const& machine, memory_kind kind, unsigned node = 0) {
  std::vector<unsigned> all;
  for (numa_node const& each : machine.memories_for(kind, node)) all.push_back(each.os_index);
  return all;
}

using index_list = std::vector<unsigned>;
using tier_list = std::vector<memory_tier>;

TEST(MemoryTiers, FollowFromNames) {
  EXPECT_EQ(tiers_in(machine_of({{"DRAM"}, {"HBM"}, {"NVM"}, {"GPUMemory"}})),
            (tier_list{ordinary, fast, slow, device}));
  EXPECT_EQ(tiers_in(machine_of({{""}, {"MCDRAM"}, {"CXL-DRAM"}, {"CXL-GPUMemory"}})),
            (tier_list{ordinary, fast, slow, device}));
}

TEST(MemoryTiers, FollowFromBandwidthAndLatencyWhereThereAreNoNames) {
  EXPECT_EQ(tiers_in(machine_of({{"", 100, 100}, {"", 400, 120}, {"", 33, 300}})), (tier_list{ordinary, fast, slow}));
  EXPECT_EQ(tiers_in(machine_of({{"", 100, 100}, {"SPM", 400, 0}, {"", 100, 300}})), (tier_list{ordinary, fast, slow}));
  EXPECT_EQ(tiers_in(machine_of({{"", 100, 300}, {"", 200, 100}})), (tier_list{slow, ordinary}))
      << "the first may be CXL";
}

TEST(MemoryTiers, AreNoneWhereValuesDifferByLessThanAQuarter) {
  EXPECT_EQ(tiers_in(machine_of({{"", 100, 100}, {"", 120, 120}})), (tier_list{ordinary, ordinary}));
}

TEST(MemoryTiers, OfNodesOfWhichNothingIsKnownAreSlow) {
  EXPECT_EQ(tiers_in(machine_of({{""}, {.has_processors = false}})), (tier_list{ordinary, slow}));
  EXPECT_EQ(tiers_in(machine_of({{""}, {"SPM"}})), (tier_list{ordinary, slow}));
}

TEST(MemoryTiers, OfProcessorsThatHaveNoOtherAreOrdinary) {
  auto const machine = machine_of({{"HBM"}, {"NVM"}});
  EXPECT_EQ(tiers_in(machine), (tier_list{ordinary, slow}));
  ASSERT_EQ(machine.nodes.size(), 1U);
  EXPECT_EQ(machine.nodes[0].os_index, 0U);
}

TEST(MemoryTiers, OfProcessorsDecideWhichNodeServesThem) {
  auto const machine = machine_of({{"", 33, 300}, {"", 100, 100}});
  ASSERT_EQ(machine.nodes.size(), 1U);
  EXPECT_EQ(machine.nodes[0].os_index, 1U);
}

TEST(MemoryKinds, AreServedBestFirst) {
  auto const machine = machine_of({{"", 100, 100, 1024}, {"", 400, 120, 256}, {"", 33, 300, 4096}});
  EXPECT_EQ(best_memories(machine, memory_kind::standard), (index_list{0}));
  EXPECT_EQ(best_memories(machine, memory_kind::low_latency), (index_list{0}));
  EXPECT_EQ(best_memories(machine, memory_kind::high_bandwidth), (index_list{1, 0}));
  EXPECT_EQ(best_memories(machine, memory_kind::large_capacity), (index_list{2, 0}));
  EXPECT_EQ(best_memories(machine, memory_kind::automatic), (index_list{1, 0}));
}

TEST(MemoryKinds, TakeTheFastestOfFastMemoriesAndTheOneThatAnswersFirst) {
  auto const machine = machine_of({{"", 100, 100}, {"HBM", 400, 60}, {"HBM", 800, 70}});
  EXPECT_EQ(best_memories(machine, memory_kind::high_bandwidth), (index_list{2, 1, 0}));
  EXPECT_EQ(best_memories(machine, memory_kind::low_latency), (index_list{1, 2, 0}));
}

TEST(MemoryKinds, NeverMeanAGpuNorSlowMemoryUnlessTheLargestIsAskedFor) {
  auto const machine = machine_of({{"", 100, 100, 1024}, {"NVM", 800, 10, 2048}, {"GPUMemory", 900, 5, 4096}});
  for (auto const kind : {memory_kind::standard, memory_kind::low_latency, memory_kind::high_bandwidth})
    EXPECT_EQ(best_memories(machine, kind), (index_list{0})) << static_cast<int>(kind);
  EXPECT_EQ(best_memories(machine, memory_kind::large_capacity), (index_list{1, 0}));
}

TEST(MemoryKinds, OfMachinesOfOneKindAreTheNodeItself) {
  for (auto const& machine : all_machines()) {
    bool const has_tiers = numa::has_several_tiers(machine);
    for (unsigned node = 0; node < machine.nodes.size() && !has_tiers; ++node)
      for (auto const kind :
           {memory_kind::automatic, memory_kind::standard, memory_kind::low_latency, memory_kind::high_bandwidth})
        EXPECT_EQ(best_memories(machine, kind, node), (index_list{machine.nodes[node].os_index})) << machine.name;
  }
  auto const machine = topology::synthetic("node:2 core:2 pu:1");
  EXPECT_EQ(best_memories(machine, memory_kind::large_capacity, 1), (index_list{1}));
  EXPECT_EQ(best_memories(unequal({1, 2}, 1), memory_kind::high_bandwidth, 1), (index_list{1}))
      << "without a table of memories";
}

TEST(MemoryKinds, OfANodeThatIsNotThereAreAnError) {
  try {
    (void)topology::synthetic("node:2 core:2 pu:1").memories_for(memory_kind::standard, 7);
    FAIL();
  } catch (topology_error const& refused) {
    EXPECT_NE(std::string(refused.what()).find("node 7 among the 2"), std::string::npos) << refused.what();
  }
}

struct best_of_node {
  char const* file;
  unsigned node;  ///< as the system numbers it
  unsigned low_latency, high_bandwidth, large_capacity;
};

// From bandwidths, latencies and capacities that the descriptions list.
std::vector<best_of_node> const best_of_nodes = {
    {"fakeheteromemtiers.xml", 0, 0, 0, 0},  // its NVM is smaller
    {"fakeheteromemtiers.xml", 1, 1, 4, 1},
    {"64intel64-fakeKNL-SNC4-hybrid.xml", 0, 0, 7, 7},
    {"64intel64-fakeKNL-SNC4-hybrid.xml", 3, 3, 6, 6},
    {"fakememinitiators-1np2c+1npp+gi.xml", 5, 5, 5, 7},
    {"fakememinitiators-1np2c+1npp+gi.xml", 9, 9, 9, 10},
    {"128ia64-17n4s2c.xml", 3, 3, 3, 3},         // the node without processors has a hundredth of the memory
    {"32amd64-4s2n4c-cgroup2.xml", 0, 0, 0, 0},  // others' processors are not permitted
    {"nvidiagpunumanodes.xml", 8, 8, 8, 8},
};

TEST(MemoryKinds, OfRealMachinesAreWhatTheirDescriptionsSay) {
  unsigned read = 0;
  for (auto const& expected : best_of_nodes) {
    if (!has_real_machine(expected.file)) continue;
    ++read;
    auto const machine = real_machine(expected.file);
    auto const at = std::ranges::find(machine.nodes, expected.node, &numa_node::os_index);
    ASSERT_NE(at, machine.nodes.end()) << expected.file;
    auto const node = static_cast<unsigned>(at - machine.nodes.begin());
    EXPECT_EQ(best_memories(machine, memory_kind::low_latency, node).front(), expected.low_latency) << expected.file;
    EXPECT_EQ(best_memories(machine, memory_kind::high_bandwidth, node).front(), expected.high_bandwidth)
        << expected.file;
    EXPECT_EQ(best_memories(machine, memory_kind::large_capacity, node).front(), expected.large_capacity)
        << expected.file;
  }
  std::cout << "looked at " << read << " of " << best_of_nodes.size() << " nodes\n";
}

/// Tables of memories hold all nodes, and none twice.
TEST(Memories, AreAllNodesOfTheMachine) {
  for (auto const& machine : all_machines()) {
    for (numa_node const& node : machine.nodes)
      EXPECT_TRUE(
          machine.memories.empty() ||
          std::ranges::any_of(machine.memories, [&](auto const& each) { return each.node.os_index == node.os_index; }))
          << machine.name << ": " << node.os_index;
    for (node_memory const& each : machine.memories)
      EXPECT_EQ(each.access.size(), machine.nodes.size()) << machine.name;
  }
}

TEST(Memories, AreDescribedWhereTheyAreOfSeveralTiers) {
  auto const text = numa::describe(machine_of({{"", 100, 100}, {"HBM", 400, 120}}));
  EXPECT_NE(text.find("for processors of node 0 high_bandwidth is memory 1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("        fast         HBM    1024 MiB         400         120"), std::string::npos) << text;
  EXPECT_EQ(numa::describe(topology::synthetic("node:2 core:2 pu:1")).find("tier"), std::string::npos);
}

TEST(MemoryKinds, HereAreResolvedFromTheEnvironmentWhereThereAreSeveral) {
  bool const several = numa::machine_of_several_tiers() != nullptr;
  setenv("COSET_MEMORY", "large_capacity", 1);
  EXPECT_EQ(numa::resolved(memory_kind::automatic, memory_kind::low_latency),
            several ? memory_kind::large_capacity : memory_kind::standard);
  unsetenv("COSET_MEMORY");
  EXPECT_EQ(numa::memory_for(numa::any_node, memory_kind::standard, 1), numa::any_node);
}

TEST(MemoryKinds, ThatDoNotExistAreErrorsThatNameTheNumber) {
  auto const wrong = static_cast<memory_kind>(9);
  auto const message_of = [](auto make) -> std::string {
    try {
      make();
    } catch (argument_error const& refused) {
      return refused.what();
    }
    return "nothing";
  };
  std::string const message = "there is no memory kind 9";
  EXPECT_EQ(message_of([&] { team({.ranks = 1, .memory = wrong}); }), message);
  EXPECT_EQ(message_of([&] { reducer<double>(10, wrong); }), message);
  EXPECT_EQ(message_of([&] { sparse_reducer<double>(10, {.memory = wrong}); }), message);
  team({.ranks = 1}).run([&](member& me) { EXPECT_EQ(message_of([&] { buffer<int>(me, 10, wrong); }), message); });
}

/// Options that differ in the kind alone: an idle team does not stand for another.
TEST(MemoryKinds, AreHeededByEveryTeamOfThisMachine) {
  for (auto const kind : {memory_kind::automatic, memory_kind::standard, memory_kind::low_latency,
                          memory_kind::high_bandwidth, memory_kind::large_capacity}) {
    reducer<long> sum(1000, kind);
    team all({.ranks = 2, .memory = kind});
    std::vector<long> total(1000);
    all.run([&](member& me) {
      buffer<long> mine(me, 1000, kind);
      std::ranges::fill(mine, me.rank() + 1);
      allreduce(me, mine);
      EXPECT_EQ(mine[999], 3);
      for (long& each : sum.local(me)) each += 1;
      barrier(me);
      sum.combine_into(total, me);
    });
    EXPECT_EQ(total[999], 2);
  }
}

}  // namespace
}  // namespace coset::numa_test
