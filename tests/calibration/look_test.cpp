// SPDX-License-Identifier: Apache-2.0
#include "calibration/look.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>

#include "coset/topology.hpp"
#include "variable.hpp"

namespace coset::calibration {
namespace {

using clock = std::chrono::steady_clock;

class Look : public testing::Test {
 protected:
  void SetUp() override {
    unsetenv("COSET_TUNING");
    unsetenv("COSET_BIND");
    if (machine.processors.size() < 2) GTEST_SKIP() << "one processor has nobody to look at";
  }
  unsigned first() const { return machine.processors.front().os_index; }
  unsigned last() const { return machine.processors.back().os_index; }

  topology const machine = topology::machine();
};

TEST_F(Look, FindsARatioAndLeavesTheThreadWhereItMayBe) {
  cpu_set_t before, after;
  sched_getaffinity(0, sizeof before, &before);
  auto const found = stores_over_copies(first(), last(), clock::now() + std::chrono::seconds(20));
  sched_getaffinity(0, sizeof after, &after);
  ASSERT_TRUE(found);
  EXPECT_GT(*found, 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST_F(Look, EndsWhereThereIsNoTimeOrNoSuchProcessor) {
  EXPECT_FALSE(stores_over_copies(first(), 100'000, clock::now() + std::chrono::milliseconds(50)));
  EXPECT_FALSE(stores_over_copies(100'000, first(), clock::now() + std::chrono::milliseconds(50)));
}

/// Red if there is a look where nobody wants one.
TEST_F(Look, IsNotTakenWhereTuningIsOff) {
  test::variable const off("COSET_TUNING", "off");
  EXPECT_EQ(memory_here(machine, machine.processors).stores_over_copies, 0);
  EXPECT_EQ(memory_here(machine, machine.processors).own_cache_bytes, told_of(machine).own_cache_bytes);
}

/// What is far away on the machine does not concern a team that is not there.
TEST_F(Look, IsAtTheProcessorsOfTheTeam) {
  EXPECT_EQ(memory_here(machine, {machine.processors.front()}).stores_over_copies, 0);
}

TEST_F(Look, WhatWasFoundStays) {
  double const found = memory_here(machine, machine.processors).stores_over_copies;
  if (found == 0) GTEST_SKIP() << "nothing was found: one core, or a busy machine";
  for (int teams = 0; teams < 100; ++teams)
    EXPECT_EQ(memory_here(machine, machine.processors).stores_over_copies, found);
}

TEST_F(Look, NeedsProcessorsThatThreadsCanBePinnedTo) {
  auto elsewhere = machine;
  elsewhere.this_system = false;
  EXPECT_EQ(memory_here(elsewhere, elsewhere.processors).stores_over_copies, 0);
  test::variable const unbound("COSET_BIND", "no");
  EXPECT_EQ(memory_here(machine, machine.processors).stores_over_copies, 0);
}

}  // namespace
}  // namespace coset::calibration
