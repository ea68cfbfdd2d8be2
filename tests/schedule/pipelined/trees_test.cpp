// SPDX-License-Identifier: Apache-2.0
// Pipelines along trees: what they cost, and that they keep rank order.
#include <gtest/gtest.h>

#include "planning/schedule/pipelines/rank_trees.hpp"
#include "schedule/effort.hpp"
#include "schedule/pipelined/one_port.hpp"
#include "schedule/schedules.hpp"

namespace coset::schedule::testing {
namespace {

rank_t const most_ranks = by_effort<rank_t>(24, 64, 64);
most_blocks const one_port{1, 1};

std::string named(std::string const& name, std::uint32_t blocks, std::uint32_t degree = 0) {
  return name + "(blocks=" + std::to_string(blocks) + (degree == 0 ? "" : ",degree=" + std::to_string(degree)) + ")";
}

TEST(TwoTrees, TakeTwoStepsALevelAndOneABlockAndKeepRankOrder) {
  for (rank_t ranks = 2; ranks <= most_ranks; ++ranks)
    for (block_t const blocks : {2u, 4u, 6u, 16u}) {
      std::uint32_t const most = blocks + 2 * ceil_log(ranks) - 2;
      for (rank_t root = 0; root < ranks; ++root) {
        auto const made = schedule_of(named("two_trees", blocks), ranks, verb::reduce, root);
        auto const found = validate(made);
        EXPECT_LE(found.steps, most) << ranks << " ranks, " << blocks << " blocks, root " << root;
        EXPECT_EQ(most_of_one_rank(made), one_port);
        if (root == 0 || root + 1 == ranks) {
          EXPECT_TRUE(found.ordered) << ranks << ' ' << root;
        }
        EXPECT_EQ(validate(schedule_of(named("two_trees", blocks), ranks, verb::broadcast, root)).steps, found.steps);
      }
      auto const both = validate(schedule_of(named("two_trees", blocks), ranks));
      EXPECT_LE(both.steps, 2 * most);
      EXPECT_TRUE(both.ordered && both.rank_uniform) << ranks;
    }
}

TEST(DualRoot, TakesThreeStepsABlockAndFourALevel) {
  for (std::uint32_t levels = 2; levels <= by_effort(4u, 6u, 9u); ++levels)
    for (block_t const blocks : {1u, 2u, 5u, 12u}) {
      rank_t const ranks = 2 * ((rank_t{1} << levels) - 1);
      EXPECT_EQ(validate(schedule_of(named("dual_root", blocks), ranks)).steps, 4 * levels - 3 + 3 * (blocks - 1))
          << ranks << ' ' << blocks;
    }
}

TEST(DualRoot, KeepsRankOrderAndBitsWithOneBlockPerRankForEveryDegree) {
  for (rank_t ranks = 2; ranks <= most_ranks; ++ranks)
    for (std::uint32_t const degree : {1u, 2u, 3u, 5u, 100u})
      for (block_t const blocks : {1u, 3u, 8u}) {
        auto const made = schedule_of(named("dual_root", blocks, degree), ranks);
        auto const found = validate(made);
        EXPECT_TRUE(found.ordered && found.rank_uniform) << ranks << ' ' << degree;
        EXPECT_EQ(most_of_one_rank(made), one_port) << ranks << ' ' << degree;
        if (degree == 2) {
          std::uint32_t const levels = ceil_log((ranks + 1) / 2 + 1);
          EXPECT_LE(found.steps, 4 * levels - 3 + 3 * (blocks - 1)) << ranks << ' ' << blocks;
        }
        if (degree == 1) {
          EXPECT_LE(found.steps, 2 * blocks + 2 * ((ranks + 1) / 2) - 3 + 1) << ranks << ' ' << blocks;
        }
      }
}

TEST(Pipelined, ChainsTakeAStepForEachRankAndBlockFromEveryRoot) {
  for (rank_t ranks = 2; ranks <= most_ranks; ++ranks)
    for (block_t const blocks : {1u, 2u, 7u})
      for (rank_t root = 0; root < ranks; ++root) {
        auto const made = schedule_of(named("pipelined", blocks, 1), ranks, verb::reduce, root);
        auto const found = validate(made);
        EXPECT_EQ(found.steps, ranks - 1 + blocks - 1) << ranks << ' ' << blocks;
        EXPECT_EQ(most_of_one_rank(made), one_port);
        EXPECT_EQ(found.received_max, fraction(1));
        EXPECT_TRUE(found.ordered || root > 0) << ranks;
      }
}

TEST(Pipelined, TreesKeepRankOrderForEveryRootAndTakeAStepForEachChildOfALevel) {
  for (rank_t ranks = 2; ranks <= most_ranks; ++ranks)
    for (std::uint32_t const degree : {2u, 3u, 4u, 7u})
      for (rank_t root = 0; root < ranks; ++root) {
        block_t const blocks = 1 + (ranks + root) % 6;
        auto const made = schedule_of(named("pipelined", blocks, degree), ranks, verb::reduce, root);
        auto const found = validate(made);
        EXPECT_TRUE(found.ordered) << ranks << " root " << root << " degree " << degree;
        EXPECT_EQ(most_of_one_rank(made), one_port);
        if (degree == 2) {
          EXPECT_LE(found.steps, 2 * ceil_log(ranks) + 2 * (blocks - 1)) << ranks << " root " << root;
        }
      }
}

TEST(Trees, AreRunsOfNeighboursWithNoMoreChildrenThanAsked) {
  for (rank_t ranks = 1; ranks <= most_ranks; ++ranks)
    for (rank_t const degree : {2u, 3u, 8u})
      for (rank_t top = 0; top < ranks; ++top) {
        tree_edges edges;
        grow(edges, {0, ranks, top}, degree);
        std::vector<rank_t> parents(ranks);
        for (tree_edge const& e : edges) ++parents[e.child];
        for (rank_t r = 0; r < ranks; ++r) EXPECT_EQ(parents[r], r == top ? 0u : 1u) << ranks << ' ' << top;
        EXPECT_LE(most_children(edges), degree);
      }
}

}  // namespace
}  // namespace coset::schedule::testing
