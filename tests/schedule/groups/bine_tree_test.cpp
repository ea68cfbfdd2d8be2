// SPDX-License-Identifier: Apache-2.0
// Bine's trees: any root, any number of ranks, the distances of the paper, and ways that are shorter than a binomial tree's.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "command/shown/networks/network.hpp"
#include "planning/schedule/model/cost.hpp"
#include "schedule/effort.hpp"
#include "schedule/schedules.hpp"

namespace coset::schedule {
namespace {

using testing::ceil_log;
using testing::schedule_of;

std::string const near_first = "bine_tree", far_first = "bine_tree(far=1)";

void expect_fewest_steps(std::string const& text, rank_t ranks, rank_t root) {
  for (verb const what : {verb::reduce, verb::broadcast}) {
    auto const found = validate(schedule_of(text, ranks, what, root));
    auto const both_ways = what == verb::reduce ? std::pair(found.sent_max, found.received_max)
                                                : std::pair(found.received_max, found.sent_max);
    EXPECT_EQ(found.steps, ceil_log(ranks)) << text << " P=" << ranks << " " << name_of(what) << " root " << root;
    EXPECT_EQ(found.fan_in, ranks > 1 ? 1u : 0u) << text << " P=" << ranks << " root " << root;
    EXPECT_EQ(both_ways.first, fraction(ranks > 1 ? 1 : 0)) << text << " P=" << ranks << " root " << root;
    EXPECT_LE(both_ways.second, fraction(ceil_log(ranks))) << text << " P=" << ranks << " root " << root;
  }
}

/// No tree in which a rank reads one other in a step has fewer steps: the ranks that have a vector at most double.
TEST(BineTree, HasTheFewestStepsForEveryRootOfEveryNumberOfRanks) {
  for (std::string const& text : {near_first, far_first}) {
    for (rank_t ranks = 1; ranks <= by_effort<rank_t>(33, 65, 130); ++ranks)
      for (rank_t root = 0; root < ranks; ++root) expect_fewest_steps(text, ranks, root);
    for (rank_t const ranks : {63u, 65u, 129u, 1001u})
      for (rank_t const root : {0u, 1u, ranks / 2, ranks - 2, ranks - 1}) expect_fewest_steps(text, ranks, root);
  }
}

TEST(BineTree, IsTheSameThereAndBack) {
  for (rank_t ranks = 1; ranks <= 65; ++ranks)
    for (std::string const& text : {near_first, far_first}) {
      auto const both = validate(schedule_of(text, ranks));
      EXPECT_EQ(both.steps, 2 * ceil_log(ranks)) << text << " P=" << ranks;
      EXPECT_TRUE(both.rank_uniform) << text << " P=" << ranks;
    }
}

/// (1 − (−2)^(s+1)) / 3, forwards from even ranks and backwards from odd ones, with the root at 0.
TEST(BineTree, SendsOverTheDistancesOfThePaper) {
  std::int64_t const distances[] = {1, -1, 3, -5, 11, -21};
  for (bool const far : {false, true}) {
    auto const made = schedule_of(far ? far_first : near_first, 64, verb::broadcast, 0);
    std::set<rank_t> have{0};
    ASSERT_EQ(made.steps.size(), 6u);
    for (std::size_t step = 0; step < 6; ++step) {
      EXPECT_EQ(made.steps[step].size(), have.size()) << "every rank that has it passes it on";
      std::set<rank_t> now = have;
      for (assignment const& a : made.steps[step]) {
        rank_t const from = made.from(a).front().rank;
        auto const distance = distances[far ? step : 5 - step];
        EXPECT_TRUE(have.contains(from));
        EXPECT_EQ(a.rank, (from + 64 + (from % 2 == 0 ? distance : -distance)) % 64) << step;
        now.insert(a.rank);
      }
      have = now;
    }
    EXPECT_EQ(have.size(), 64u);
  }
}

struct way {
  std::size_t hops = 0;  ///< of all messages of a whole vector
  fraction busiest;      ///< link, in vectors
};

way on_torus(std::string const& text, rank_t ranks, std::vector<rank_t> const& dimensions, verb what) {
  auto const made = schedule_of(text, ranks, what);
  auto const links = grid_network(dimensions, true, {.rank = {0, 0}, .link = {0, 1e-9}});
  routes const ways(links);
  way found{0, counts(made, ways).busiest().volume};
  std::vector<link_t> taken;
  for (auto const& step : made.steps)
    for (assignment const& a : step)
      for (source const& s : made.from(a)) {
        if (s.rank == a.rank) continue;
        taken.clear();
        ways.append(s.rank, a.rank, taken);
        found.hops += taken.size() - 2;  // without the links of the two ranks
      }
  return found;
}

/// On a ring 2/3 of the hops of binomial trees, as distances are (2/3) 2^s instead of 2^s: P/2 for each of their steps where
/// most messages are near, and 1 + 4 + 16 + … where most are far.
TEST(BineTree, HasShorterWaysThanABinomialTree) {
  for (rank_t ranks = 16; ranks <= 256; ranks *= 2)
    for (verb const what : {verb::broadcast, verb::reduce}) {
      auto const near = on_torus(near_first, ranks, {ranks}, what), other = on_torus("binomial", ranks, {ranks}, what);
      EXPECT_EQ(other.hops, ranks / 2 * ceil_log(ranks));
      EXPECT_LT(near.hops * 4, other.hops * 3) << "P=" << ranks;
      EXPECT_LT(near.busiest, other.busiest) << "P=" << ranks;
      EXPECT_LT(on_torus(far_first, ranks, {ranks}, what).hops * 4, (ranks * ranks - 1) / 3 * 3) << "P=" << ranks;
    }
}

TEST(BineTree, HasTheFiguresOfTheDocuments) {
  struct row {
    std::vector<rank_t> torus;
    std::size_t bine, bine_busiest, binomial, binomial_busiest;
  };
  for (row const& r :
       {row{{64}, 135, 3, 192, 6}, {{128}, 313, 4, 448, 7}, {{8, 8}, 110, 3, 108, 3}, {{8, 16}, 241, 3, 268, 4}}) {
    rank_t ranks = 1;
    for (rank_t const n : r.torus) ranks *= n;
    auto const bine = on_torus(near_first, ranks, r.torus, verb::broadcast);
    auto const other = on_torus("binomial", ranks, r.torus, verb::broadcast);
    EXPECT_EQ(bine.hops, r.bine) << ranks;
    EXPECT_EQ(other.hops, r.binomial) << ranks;
    EXPECT_EQ(bine.busiest, fraction(static_cast<std::int64_t>(r.bine_busiest))) << ranks;
    EXPECT_EQ(other.busiest, fraction(static_cast<std::int64_t>(r.binomial_busiest))) << ranks;
  }
}

}  // namespace
}  // namespace coset::schedule
