// SPDX-License-Identifier: Apache-2.0
// Traffic by level, against a count that takes the definition word by word.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "command/shown/selector.hpp"
#include "schedules.hpp"

namespace coset::schedule {
namespace {

using testing::schedule_of;
using domains = std::vector<std::vector<unsigned>>;  // [level][rank]

struct slow_volumes {
  std::vector<fraction> total, largest;
};

slow_volumes count_slowly(schedule const& s, domains const& machine) {
  slow_volumes found{std::vector<fraction>(machine.size()), std::vector<fraction>(machine.size())};
  for (rank_t reader = 0; reader < s.ranks; ++reader) {
    std::vector<fraction> own(machine.size());
    for (auto const& step : s.steps) {
      std::set<std::tuple<rank_t, block_t, slot_t>> seen;
      for (assignment const& a : step) {
        if (a.rank != reader) continue;
        for (source const& from : s.from(a)) {
          if (from.rank == reader || !seen.insert({from.rank, a.block, from.slot}).second) continue;
          for (std::size_t level = 0; level < machine.size(); ++level) {
            bool const last = level + 1 == machine.size();
            if (!last && machine[level][reader] != machine[level][from.rank]) continue;
            own[level] += s.blocks[a.block].size;
            break;
          }
        }
      }
    }
    for (std::size_t level = 0; level < machine.size(); ++level) {
      found.total[level] += own[level];
      found.largest[level] = std::max(found.largest[level], own[level]);
    }
  }
  return found;
}

/// Whatever its levels cost.
counts counted_on(schedule const& s, rank_levels const& levels) {
  cost_model model;
  model.links.resize(levels.count());
  return {s, level_machine(levels, model)};
}

void expect_same(schedule const& s, domains const& machine, std::string const& what) {
  slow_volumes const slow = count_slowly(s, machine);
  auto const fast = counted_on(s, rank_levels(machine)).volumes();
  ASSERT_EQ(fast.size(), machine.size());
  for (std::size_t level = 0; level < machine.size(); ++level) {
    EXPECT_EQ(fast[level].total, slow.total[level]) << what << ", level " << level;
    EXPECT_EQ(fast[level].largest, slow.largest[level]) << what << ", level " << level;
  }
}

// Pairs in nodes in a machine: compact; nodes in turn; nodes of 1 to 3 ranks, the last one in pieces.
std::vector<domains> machines(rank_t ranks) {
  domains compact(3, std::vector<unsigned>(ranks)), scattered = compact, unequal = compact;
  rank_t const nodes = (ranks + 3) / 4;
  for (rank_t r = 0; r < ranks; ++r) {
    compact[0][r] = r / 2;
    compact[1][r] = r / 4;
    scattered[1][r] = r % nodes;
    scattered[0][r] = r % nodes * ranks + r / nodes / 2;
    unequal[1][r] = r < 1 ? 0 : r < 4 ? 1 : 2 + r % 2;
    unequal[0][r] = r;
  }
  return {compact, scattered, unequal};
}

TEST(Traffic, IsThatOfASlowCountForEveryCandidateAndPlacement) {
  std::size_t checked = 0;
  for (rank_t const ranks : {1u, 2u, 5u, 8u, 11u})
    for (verb const what : {verb::allreduce, verb::reduce, verb::scan, verb::allgather}) {
      demand wanted{.verb = what, .ranks = ranks, .same_bits = false};
      if (ranks == 11) wanted.nodes = {5, 2, 4};
      selector const all(wanted, cost_model::ten_gigabit());
      for (candidate const& c : all.candidates()) {
        for (auto const& machine : machines(ranks)) expect_same(make(c.how, ranks, what), machine, c.how.text());
        ++checked;
      }
    }
  EXPECT_GT(checked, 200u);
}

TEST(Traffic, OfAllLevelsIsWhatValidateCounts) {
  for (char const* const text : {"direct", "direct(saved_steps=1)", "ring", "unequal(nodes=3+2)"}) {
    schedule const s = schedule_of(text, 5);
    auto const on_one_level = counted_on(s, rank_levels(5, {5}));
    EXPECT_EQ(on_one_level.volumes()[0].largest, validate(s).received_max) << text;
  }
}

TEST(Traffic, OfTwoLevelPlansBetweenNodesIsTheLeast) {
  // 3 nodes of 4: (N − 1) vectors to fold and as many to spread, where direct reads P(N − 1)/N each way.
  rank_levels const nodes(12, {4, 12});
  EXPECT_EQ(counted_on(schedule_of("product(dims=4x3)", 12), nodes).volumes()[1].total, fraction(2 * 2));
  EXPECT_EQ(counted_on(schedule_of("direct", 12), nodes).volumes()[1].total, fraction(2 * 8));
  rank_levels const unequal({{0, 0, 0, 0, 0, 1, 1, 2, 2, 2, 2}, std::vector<unsigned>(11)});
  EXPECT_EQ(counted_on(schedule_of("unequal(nodes=5+2+4)", 11), unequal).volumes()[1].total, fraction(2 * 2));
}

TEST(Traffic, OfAValueReadTwiceInAStepCountsOnce) {
  schedule s = schedule_of("direct", 2);
  auto const before = counted_on(s, rank_levels(2, {2})).volumes()[0];
  auto const& copied = s.steps.back().front();
  s.steps.back().push_back({copied.rank, copied.block, copied.slot + 1, copied.first, copied.count});
  auto const after = counted_on(s, rank_levels(2, {2})).volumes()[0];
  EXPECT_EQ(after.total, before.total);
  EXPECT_EQ(after.largest, before.largest);
}

TEST(Traffic, TimeFollowsTheLevelOfEachPair) {
  cost_model model;
  model.links = {{1, 1, 0.5}, {2, 10, 3}};
  model.peers_per_latency = 100;
  // Recursive doubling of 100 bytes: ranks 0 and 1 meet first, then 0 and 2. Scattered, the first meet across.
  schedule const s = schedule_of("recursive_doubling", 4);
  double const inside = 1 + 100 * 0.5, across = 10 + 100 * 3;
  EXPECT_DOUBLE_EQ(counts(s, level_machine(rank_levels({{0, 1, 0, 1}, {0, 0, 0, 0}}), model)).seconds(100),
                   across + inside);
  EXPECT_DOUBLE_EQ(counts(s, level_machine(rank_levels({{0, 1, 2, 3}, {0, 0, 0, 0}}), model)).seconds(100), 2 * across);
  // Of one step's ranks the slowest counts: 0 and 1 are near, 2 and 3 are not.
  EXPECT_DOUBLE_EQ(counts(s, level_machine(rank_levels({{0, 0, 1, 2}, {0, 0, 0, 0}}), model)).seconds(100), 2 * across);
}

TEST(Traffic, RefusesLevelsThatAreNotOfTheseRanks) {
  EXPECT_THROW(rank_levels(domains{}), schedule_error);
  EXPECT_THROW(rank_levels(domains{{0, 1}, {0}}), schedule_error);
  EXPECT_THROW(rank_levels(4, {2, 0}), schedule_error);
  EXPECT_THROW(counted_on(schedule_of("ring", 5), rank_levels(4, {4})), schedule_error);
  EXPECT_THROW(level_machine(rank_levels(4, {2, 4}), cost_model::ten_gigabit()), schedule_error);
}

TEST(Selector, TriesNodesOfAnySizes) {
  cost_model model;
  model.links = {{1, 1e-7, 1e-11}, {11, 1e-5, 1e-8}};
  model.peers_per_latency = 100;
  rank_levels const nodes({{0, 0, 0, 0, 0, 1, 1, 2, 2, 2, 2}, std::vector<unsigned>(11)});
  selector const by_node({.ranks = 11, .nodes = {5, 2, 4}}, level_machine(nodes, model));
  EXPECT_EQ(by_node.best(1e7).which->work.volumes()[1].total, fraction(4));
  for (char const* const name : {"unequal", "flexreduce", "leaders"}) {
    auto const is_named = [&](candidate const& c) { return c.how.name == name; };
    EXPECT_TRUE(std::any_of(by_node.candidates().begin(), by_node.candidates().end(), is_named)) << name;
  }
}

}  // namespace
}  // namespace coset::schedule
