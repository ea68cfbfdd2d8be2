// SPDX-License-Identifier: Apache-2.0
// Which processors ranks get: every number of ranks on every machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "effort.hpp"
#include "numa/machines.hpp"
#include "numa/share.hpp"

namespace coset::numa_test {
namespace {

std::vector<unsigned> each(std::vector<processor> const& placed, unsigned processor::*what) {
  std::vector<unsigned> result;
  for (auto const& p : placed) result.push_back(p.*what);
  return result;
}

std::size_t distinct(std::vector<processor> const& placed, unsigned processor::*what) {
  auto all = each(placed, what);
  std::sort(all.begin(), all.end());
  return static_cast<std::size_t>(std::unique(all.begin(), all.end()) - all.begin());
}

/// Every number of ranks; under small effort not all that a large machine takes.
rank_t step_on(topology const& machine) {
  return machine.processors.size() <= 32 ? 1 : test::by_effort<rank_t>(7, 1, 1);
}

TEST(Placement, RanksHaveProcessorsOfTheirOwnAndCoresComeFirst) {
  for (auto const& machine : all_machines()) {
    auto const cores = machine.cores();
    for (rank_t ranks = 0; ranks <= machine.processors.size(); ranks += step_on(machine))
      for (auto const how : {placement::compact, placement::scatter}) {
        auto const placed = machine.place(ranks, how);
        ASSERT_EQ(placed.size(), ranks) << machine.name;
        ASSERT_EQ(distinct(placed, &processor::os_index), ranks) << machine.name;
        ASSERT_EQ(distinct(placed, &processor::core), std::min<std::size_t>(ranks, cores))
            << ranks << " ranks on " << machine.name;
      }
  }
}

TEST(Placement, CompactRanksOfANodeAreConsecutive) {
  for (auto const& machine : all_machines())
    for (rank_t ranks = 1; ranks <= machine.processors.size(); ++ranks) {
      auto const nodes = each(machine.place(ranks, placement::compact), &processor::node);
      ASSERT_TRUE(std::is_sorted(nodes.begin(), nodes.end())) << ranks << " ranks on " << machine.name;
    }
}

TEST(Placement, CompactFillsANodeThenTheNext) {
  auto const machine = topology::synthetic("node:2 core:4 pu:2");
  EXPECT_EQ(each(machine.place(3, placement::compact), &processor::os_index), (std::vector<unsigned>{0, 2, 4}));
  EXPECT_EQ(each(machine.place(5, placement::compact), &processor::os_index), (std::vector<unsigned>{0, 2, 4, 6, 8}));
  EXPECT_EQ(each(machine.place(9, placement::compact), &processor::os_index),
            (std::vector<unsigned>{0, 1, 2, 4, 6, 8, 10, 12, 14}));
}

TEST(Placement, ScatterTakesNodesInTurn) {
  auto const machine = topology::synthetic("node:2 core:4 pu:2");
  EXPECT_EQ(each(machine.place(3, placement::scatter), &processor::os_index), (std::vector<unsigned>{0, 8, 2}));
  EXPECT_EQ(each(machine.place(10, placement::scatter), &processor::os_index),
            (std::vector<unsigned>{0, 8, 2, 10, 4, 12, 6, 14, 1, 9}));
}

TEST(Placement, ScatterPassesOverNodesThatRanOut) {
  EXPECT_EQ(each(unequal({1, 3}, 1).place(4, placement::scatter), &processor::node),
            (std::vector<unsigned>{0, 1, 1, 1}));
  EXPECT_EQ(each(unequal({5, 2, 4}, 1).place(11, placement::scatter), &processor::node),
            (std::vector<unsigned>{0, 1, 2, 0, 1, 2, 0, 2, 0, 2, 0}));
}

// No node has two ranks more than another that still has a free core.
TEST(Placement, ScatterIsBalancedOverUnequalNodes) {
  for (auto const& machine : all_machines()) {
    // Fast cores first may unbalance nodes, and shall.
    if (distinct(machine.processors, &processor::kind) > 1) continue;
    for (rank_t ranks = 1; ranks <= machine.cores(); ranks += step_on(machine)) {
      std::map<unsigned, unsigned> ranks_of, cores_of;
      for (auto const& p : machine.processors) cores_of[p.node] += p.thread == 0;
      for (auto const& p : machine.place(ranks, placement::scatter)) ++ranks_of[p.node];
      unsigned most = 0;
      for (auto const& [node, count] : ranks_of) most = std::max(most, count);
      for (auto const& [node, cores] : cores_of)
        ASSERT_GE(ranks_of[node] + 1, std::min(most, cores + 1)) << ranks << " ranks on " << machine.name;
    }
  }
}

TEST(Placement, FastCoresComeBeforeSlowOnes) {
  auto machine = unequal({2, 2}, 2);
  for (auto& p : machine.processors) p.kind = p.core % 2 == 0 ? 1 : 0;
  EXPECT_EQ(each(machine.place(2, placement::compact), &processor::core), (std::vector<unsigned>{1, 3}));
  EXPECT_EQ(each(machine.place(3, placement::compact), &processor::core), (std::vector<unsigned>{0, 1, 3}));
  EXPECT_EQ(each(machine.place(3, placement::scatter), &processor::core), (std::vector<unsigned>{1, 3, 0}));
  // A slow core is still better than the second thread of a fast one.
  EXPECT_EQ(distinct(machine.place(4, placement::compact), &processor::core), 4U);
}

TEST(Placement, TooManyRanksNameBothNumbersAndUnboundOnesShare) {
  auto const machine = topology::synthetic("node:2 core:2 pu:1");
  for (auto const how : {placement::compact, placement::scatter}) try {
      machine.place(5, how);
      FAIL() << "5 ranks fit 4 hardware threads";
    } catch (topology_error const& error) {
      EXPECT_NE(std::string(error.what()).find("5 ranks"), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("4 usable"), std::string::npos) << error.what();
    }
  EXPECT_EQ(each(machine.place(10, placement::unbound), &processor::os_index),
            (std::vector<unsigned>{0, 1, 2, 3, 0, 1, 2, 3, 0, 1}));
}

TEST(Placement, OfATeamSharesProcessorsWhereRanksOutnumberThem) {
  auto const machine = topology::synthetic("node:2 core:2 pu:1");
  auto const shared = [&](rank_t ranks, placement how) {
    return each(numa::place_or_share(machine, ranks, how), &processor::os_index);
  };
  EXPECT_EQ(shared(4, placement::compact), (std::vector<unsigned>{0, 1, 2, 3}));
  EXPECT_EQ(shared(6, placement::compact), (std::vector<unsigned>{0, 0, 1, 2, 2, 3}));
  EXPECT_EQ(shared(8, placement::compact), (std::vector<unsigned>{0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(shared(6, placement::scatter), (std::vector<unsigned>{0, 2, 1, 3, 0, 2}));
  EXPECT_EQ(shared(6, placement::unbound), (std::vector<unsigned>{0, 1, 2, 3, 0, 1}));
}

TEST(Placement, ExplicitProcessorsAreTakenInTheOrderGiven) {
  auto const machine = topology::synthetic("node:2 core:2 pu:2");
  EXPECT_EQ(each(machine.place({6, 0, 3}), &processor::os_index), (std::vector<unsigned>{6, 0, 3}));
  EXPECT_EQ(each(machine.place({6, 0, 3}), &processor::node), (std::vector<unsigned>{1, 0, 0}));
  EXPECT_TRUE(machine.place(std::vector<unsigned>{}).empty());
}

TEST(Placement, UnknownAndRepeatedProcessorsAreNamed) {
  auto const machine = topology::synthetic("node:2 core:2 pu:2");
  for (auto const& [wrong, named] : {std::pair{std::vector<unsigned>{0, 8}, "processor 8"},
                                     std::pair{std::vector<unsigned>{4294967295U}, "processor 4294967295"},
                                     std::pair{std::vector<unsigned>{5, 1, 5}, "processor 5"}})
    try {
      machine.place(wrong);
      FAIL() << named << " was accepted";
    } catch (topology_error const& error) {
      EXPECT_NE(std::string(error.what()).find(named), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace coset::numa_test
