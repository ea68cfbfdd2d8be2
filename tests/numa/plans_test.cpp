// SPDX-License-Identifier: Apache-2.0
// Plans along the nodes of any machine: valid for any number of ranks, and no data cross between nodes that need not.
#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "effort.hpp"
#include "numa/machines.hpp"
#include "planning/choice/choose.hpp"
#include "planning/schedule/core/validate.hpp"
#include "planning/schedule/registry/algorithm.hpp"

namespace coset::numa_test {
namespace {

/// What ranks read from ranks of other nodes in all, in vectors; what is read twice in one step counts once.
schedule::fraction volume_between_nodes(schedule::schedule const& plan, std::vector<processor> const& places) {
  schedule::fraction volume = 0;
  for (auto const& step : plan.steps) {
    std::set<std::tuple<rank_t, rank_t, schedule::slot_t, schedule::block_t>> reads;
    for (schedule::assignment const& a : step) {
      for (schedule::source const& from : plan.from(a)) {
        bool const crosses = places[a.rank].node != places[from.rank].node;
        if (crosses && reads.emplace(a.rank, from.rank, from.slot, a.block).second)
          volume = volume + plan.blocks[a.block].size;
      }
    }
  }
  return volume;
}

std::int64_t nodes_in(std::vector<processor> const& places) {
  std::set<unsigned> nodes;
  for (processor const& p : places) nodes.insert(p.node);
  return static_cast<std::int64_t>(nodes.size());
}

choice::question question_for(std::vector<processor> const& places, std::size_t bytes) {
  choice::question asked{.ranks = static_cast<rank_t>(places.size()), .bytes = bytes};
  choice::put_on_levels(asked, places);
  return asked;
}

/// All, or of large machines those where something may change.
std::vector<rank_t> numbers_of_ranks(topology const& machine) {
  auto const all = static_cast<rank_t>(machine.processors.size());
  std::set<rank_t> numbers;
  rank_t const densely = test::by_effort<rank_t>(12, 64, 1024);
  for (rank_t p = 1; p <= std::min(all, densely); ++p) numbers.insert(p);
  for (rank_t const p : {all / 3, all / 2, all / 2 + 1, all - 1, all, machine.cores()}) {
    if (p >= 1 && p <= all) numbers.insert(p);
  }
  std::erase_if(numbers, [](rank_t p) { return p > test::by_effort<rank_t>(48, 256, 1024); });
  return {numbers.begin(), numbers.end()};
}

TEST(PlansByNode, AreValidAndCrossNodesAsLittleAsPossibleOnEveryMachine) {
  std::size_t tried = 0;
  for (topology const& machine : all_machines()) {
    for (rank_t const ranks : numbers_of_ranks(machine)) {
      auto const places = machine.place(ranks, ranks % 4 == 0 ? placement::scatter : placement::compact);
      std::string const text = choice::folds_by_level(question_for(places, 1 << 20)).text();
      SCOPED_TRACE(machine.name + ", " + std::to_string(ranks) + " ranks: " + text);
      auto const plan = schedule::make(schedule::algorithm::parse(text), ranks);
      auto const found = schedule::validate(plan);
      EXPECT_TRUE(found.rank_uniform);
      EXPECT_EQ(volume_between_nodes(plan, places), schedule::fraction(2 * (nodes_in(places) - 1)));
      if (::testing::Test::HasFailure()) return;
      ++tried;
    }
  }
  RecordProperty("tried", std::to_string(tried));
  EXPECT_GT(tried, 300u);
}

TEST(PlansByNode, KeepTheOrderWhereTheOperationNeedsIt) {
  for (auto const& nodes : {std::vector<unsigned>{5, 2, 4}, {1, 12}, {9, 3, 10}, {20, 7}}) {
    auto const places = unequal(nodes, 1).place(0u + unequal(nodes, 1).cores(), placement::compact);
    auto asked = question_for(places, 1 << 20);
    asked.commutative = false;
    auto const chosen = choice::choose(asked);
    auto const found = schedule::validate(schedule::make(chosen.algorithm, asked.ranks));
    EXPECT_TRUE(found.ordered && found.rank_uniform) << chosen.algorithm.text();
  }
}

/// Values cross to a node once and are handed on there, which is what push does.
TEST(PlansByNode, ThatAreChosenForLargeTeamsHandCopiesOnLevelByLevel) {
  auto const machine = topology::synthetic("node:3 core:6 pu:1");
  for (std::size_t const bytes : {std::size_t{64} << 10, std::size_t{1} << 20, std::size_t{256} << 20}) {
    auto const chosen = choice::choose(question_for(machine.place(18, placement::compact), bytes));
    EXPECT_EQ(chosen.algorithm.text(), "product(dims=6x3,saved_steps=0)");
    EXPECT_EQ(chosen.storage.how, program::copies::push);
  }
  auto const uneven = choice::choose(question_for(machine.place(16, placement::compact), 1 << 20));
  auto const places = machine.place(16, placement::compact);
  EXPECT_EQ(volume_between_nodes(schedule::make(uneven.algorithm, 16), places), schedule::fraction(4))
      << uneven.algorithm.text();
  EXPECT_EQ(uneven.storage.how, program::copies::push);
  auto const scattered = choice::choose(question_for(machine.place(18, placement::scatter), 1 << 20));
  EXPECT_EQ(scattered.algorithm.text(), "product(dims=6x3,permute=stride:3,saved_steps=0)");
  EXPECT_EQ(scattered.storage.how, program::copies::push);
}

}  // namespace
}  // namespace coset::numa_test
