// SPDX-License-Identifier: Apache-2.0
// Where threads run: checked against the kernel, in children with masks of their own.
#include "numa/binding.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <latch>
#include <thread>

#include "coset/topology.hpp"
#include "numa/child.hpp"
#include "numa/mask.hpp"

namespace coset::numa_test {
namespace {

using numa::mask;

// Whoever runs the tests may have wishes of their own.
class Binding : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { unsetenv("COSET_BIND"); }
};

std::vector<unsigned> usable() {
  std::vector<unsigned> result;
  for (auto const& each : topology::machine().processors) result.push_back(each.os_index);
  return result;
}

bool pin_to(unsigned processor) {
  auto const now = mask::of_thread(0);
  return now.count() == 1 && now.contains(processor) && numa::current_processor() == processor;
}

TEST_F(Binding, EveryUsableProcessorCanBePinnedToAndIsWhereTheThreadThenRuns) {
  std::thread([] {
    for (unsigned const each : usable()) {
      numa::bind_this_thread(each);
      EXPECT_TRUE(pin_to(each)) << "processor " << each << ", runs on " << numa::current_processor();
    }
  }).join();
}

TEST_F(Binding, ASavedMaskComesBack) {
  auto const before = mask::of_thread(0).count();
  {
    numa::saved_mask saved;
    numa::bind_this_thread(numa::current_processor());
    EXPECT_EQ(mask::of_thread(0).count(), 1U);
  }
  EXPECT_EQ(mask::of_thread(0).count(), before);

  numa::saved_mask first;
  numa::bind_this_thread(numa::current_processor());
  numa::saved_mask second = std::move(first);
  first.restore();
  EXPECT_EQ(mask::of_thread(0).count(), 1U) << "an empty mask restored something";
  second.restore();
  EXPECT_EQ(mask::of_thread(0).count(), before);
}

TEST_F(Binding, ASavedMaskIsNotPutOnAnotherThread) {
  if (usable().size() < 2) GTEST_SKIP() << "one processor";
  numa::saved_mask saved;
  std::thread([&] {
    numa::bind_this_thread(usable().front());
    saved.restore();
    EXPECT_EQ(mask::of_thread(0).count(), 1U);
  }).join();
}

TEST_F(Binding, ARefusedProcessorIsNamed) {
  for (unsigned const absent : {99999U, 4294967295U}) try {
      numa::bind_this_thread(absent);
      FAIL() << "pinned to processor " << absent;
    } catch (topology_error const& error) {
      EXPECT_NE(std::string(error.what()).find(std::to_string(absent)), std::string::npos) << error.what();
    }
}

TEST_F(Binding, NothingIsPinnedIfTheEnvironmentSaysNo) {
  EXPECT_TRUE(in_child([] {
    setenv("COSET_BIND", "no", 1);
    auto const before = mask::of_thread(0).count();
    numa::bind_this_thread(usable().front());
    return !numa::binding_wanted() && mask::of_thread(0).count() == before;
  }));
  EXPECT_TRUE(in_child([] {
    setenv("COSET_BIND", "yes", 1);
    numa::bind_this_thread(usable().front());
    return numa::binding_wanted() && pin_to(usable().front());
  }));
}

TEST_F(Binding, AMaskNarrowsTheMachineAndForbidsTheRest) {
  auto const all = usable();
  if (all.size() < 3) GTEST_SKIP() << "fewer than three processors";
  unsigned const first = all.front();
  unsigned const last = all.back();
  EXPECT_TRUE(in_child([&] {
    return restrict_to({first, last}) && usable() == std::vector{first, last} && topology::machine().cores() <= 2 &&
           topology::whole_machine().processors.size() >= all.size() && numa::usable_processors() <= 2;
  }));
  EXPECT_TRUE(in_child([&] {
    if (!restrict_to({first, last})) return false;
    try {
      topology::machine().place({all[1]});
    } catch (topology_error const&) {
      return true;
    }
    return false;
  }));
}

TEST_F(Binding, OneProcessorIsAMachineToo) {
  unsigned const last = usable().back();
  EXPECT_TRUE(in_child([&] {
    if (!restrict_to({last})) return false;
    auto const machine = topology::machine();
    auto const placed = machine.place(1, placement::compact);
    return machine.cores() == 1 && machine.nodes.size() == 1 && placed.front().os_index == last &&
           placed.front().thread == 0 && numa::usable_processors() == 1;
  }));
}

TEST_F(Binding, APinnedThreadDoesNotMakeTheWholeProcessSmaller) {
  auto const all = numa::usable_processors();
  std::latch pinned(1), asked(1);
  unsigned seen = 0;
  std::thread other([&] {
    numa::bind_this_thread(usable().front());
    seen = numa::usable_processors();
    pinned.count_down();
    asked.wait();
  });
  pinned.wait();
  EXPECT_EQ(seen, all);
  EXPECT_EQ(numa::usable_processors(), all);
  asked.count_down();
  other.join();
}

TEST_F(Binding, AMachineFromTheEnvironmentIsNotThisSystem) {
  EXPECT_TRUE(in_child([] {
    setenv("HWLOC_SYNTHETIC", "node:2 core:300 pu:2", 1);
    auto const machine = topology::machine();
    return !machine.this_system && machine.processors.size() == 1200;
  }));
}

TEST_F(Binding, MasksReachBeyondTheFixedSetOfTheCLibrary) {
  auto far = mask::single(5000);
  EXPECT_TRUE(far.contains(5000));
  EXPECT_FALSE(far.contains(4999));
  EXPECT_FALSE(mask::single(3).contains(5000));
  far.merge(mask::single(3));
  EXPECT_EQ(far.count(), 2U);
  auto near = mask::single(3);
  near.merge(far);
  EXPECT_TRUE(near.contains(5000));
  EXPECT_EQ(mask().count(), 0U);
}

}  // namespace
}  // namespace coset::numa_test
