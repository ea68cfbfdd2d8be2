// SPDX-License-Identifier: Apache-2.0
// The errata of docs/algorithms.md that can be executed or evaluated: what a source prints fails where the corrected form holds.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "command/shown/networks/link_traffic.hpp"
#include "planning/schedule/algorithms/dissemination.hpp"
#include "planning/schedule/algorithms/flexreduce.hpp"
#include "planning/schedule/core/events.hpp"
#include "planning/schedule/groups/group.hpp"
#include "planning/schedule/model/cost.hpp"
#include "schedule/schedules.hpp"

namespace coset::schedule::testing {
namespace {

/// The ranks that a rank reads from in a step.
std::vector<rank_t> peers_of(schedule const& made, std::size_t step, rank_t rank) {
  auto const read = read_from(made, step, rank);
  std::vector<rank_t> peers(read.begin(), read.end());
  std::erase(peers, rank);
  return peers;
}

properties found_of(std::string const& text, rank_t ranks) { return validate(schedule_of(text, ranks)); }

// (20), (21), (23) begin with vector floor(N/2), which is one that stays: of seven, 4, 5 and 6 are added to 1, 2 and 3.
TEST(ErrataOfKolmakov, TheVectorsThatMoveBeginAtHalfRoundedUp) {
  auto const made = schedule_of("generalized", 7);
  std::set<block_t> folded;  // block 0 − t of rank 0 is its part of vector t
  for (assignment const& a : made.steps[0])
    if (a.rank == 0 && a.count > 1) folded.insert((7 - a.block) % 7);
  EXPECT_EQ(folded, (std::set<block_t>{1, 2, 3}));
  EXPECT_EQ(peers_of(made, 0, 0), std::vector<rank_t>{3});
}

// (44) has 2L − 2 combines at r = L: an upper bound, but for two ranks, which it has add nothing.
TEST(ErrataOfKolmakov, TwoRanksCombineOnce) {
  EXPECT_EQ(found_of("latency", 2).combined_max, fraction(1));
  for (rank_t ranks = 3; ranks <= 64; ++ranks)
    EXPECT_LE(found_of("latency", ranks).combined_max, fraction(2 * std::int64_t{ceil_log(ranks)} - 2)) << ranks;
}

// Section 3 has ceil(log_p k).
TEST(ErrataOfKolmakov, KPortsTakeALogarithmToTheBaseKPlusOne) {
  for (rank_t ranks = 2; ranks <= 64; ++ranks)
    for (rank_t ports = 1; ports <= 7; ++ports) {
      auto const found = found_of("generalized(radix=" + std::to_string(ports + 1) + ")", ranks);
      EXPECT_EQ(found.steps, 2 * ceil_log(ranks, ports + 1)) << ranks << " by " << ports;
      EXPECT_LE(found.fan_in, ports);
    }
  EXPECT_NE(found_of("generalized(radix=3)", 8).steps, 2 * ceil_log(2, 8));  // as printed, one each way
}

// Figure 5 has ceil(log 2P), four on seven ranks.
TEST(ErrataOfKolmakov, SevenRanksTakeThreeStepsEachWay) {
  EXPECT_EQ(found_of("generalized", 7).steps, 2 * 3u);
  EXPECT_EQ(ceil_log(2 * 7), 4u);
}

// Section 4 has more groups for every composite order. Of order pq, p < q, there is a second one exactly if some unit but 1 has
// its p-th power 1 modulo q.
TEST(ErrataOfKolmakov, SomeCompositeOrdersHaveOneGroup) {
  auto const groups = [](rank_t p, rank_t q) {
    int others = 0;
    for (rank_t unit = 2; unit < q; ++unit) try {
        others += group::semidirect(p, q, unit).commutes() ? 0 : 1;
      } catch (schedule_error const&) {
      }
    return 1 + (others > 0 ? 1 : 0);
  };
  EXPECT_EQ(groups(3, 5), 1);
  EXPECT_EQ(groups(3, 11), 1);
  EXPECT_EQ(groups(5, 7), 1);
  EXPECT_EQ(groups(3, 17), 1);
  EXPECT_EQ(groups(3, 7), 2);
  EXPECT_EQ(groups(2, 5), 2);
  auto const product = group({3, 5});  // is the cyclic one: an element of order 15
  element sum = 4;
  rank_t order = 1;
  for (; sum != 0; sum = product.add(sum, 4)) ++order;
  EXPECT_EQ(order, 15u);
}

/// Combines of one rank in a step, in blocks; all ranks do the same.
std::int64_t combines_in(schedule const& made, std::size_t step) {
  std::int64_t combines = 0;
  for (assignment const& a : made.steps[step])
    if (a.rank == 0) combines += a.count - 1;
  return combines;
}

// Section 8 has two more combines of each step that halves an even number, with one step saved.
TEST(ErrataOfKolmakov, ASavedStepCostsOneCombineInTheFirstAndTheLastStep) {
  for (rank_t ranks = 3; ranks <= 64; ++ranks) {
    auto const all = schedule_of("generalized", ranks), saved = schedule_of("generalized(saved_steps=1)", ranks);
    std::uint32_t const steps = ceil_log(ranks);
    rank_t left = ranks;
    for (std::uint32_t i = 0; i < steps; ++i, left = (left + 1) / 2) {
      std::int64_t const more = combines_in(saved, i) - combines_in(all, i);
      if (i == 0 || i + 1 == steps || std::has_single_bit(ranks)) {
        EXPECT_EQ(more, 1) << ranks << " ranks, step " << i;
      } else {
        EXPECT_LE(more, left % 2 == 0 ? 2 : 1) << ranks << " ranks, step " << i;
      }
    }
  }
}

// Section 3 has 3/2 m for the data of 3-2 elimination: that is what its critical volume is longer at most than halving's.
TEST(ErrataOfKolmakov, EliminationSendsMoreThanOneAndAHalfVectors) {
  double most = 0;
  for (rank_t ranks = 3; ranks <= 64; ++ranks) {
    double const all = counts(schedule_of("elimination_3_2", ranks), cost_model::flat(0, 1, 0)).seconds(1);
    most = std::max(most, all - 2 * (1 - 1. / std::bit_floor(ranks)));
  }
  EXPECT_DOUBLE_EQ(most, 1.5);
  EXPECT_GT(found_of("elimination_3_2", 7).sent_max, fraction(3, 2));
}

// The table calls 2 ceil(log2 p) rounds optimal. Every even p has as short messages in a round less.
TEST(ErrataOfTraeff, EvenNumbersOfRanksTakeARoundLessWithTheSameBlocks) {
  for (std::int64_t ranks = 4; ranks <= 64; ranks += 2) {
    auto const p = static_cast<rank_t>(ranks);
    auto const found = found_of("tower(factors=" + std::to_string(p / 2) + "x2,saved_steps=1)", p);
    auto const circulant = found_of("circulant", p);
    EXPECT_EQ(found.steps, circulant.steps - 1) << p;
    EXPECT_EQ(found.sent_max, fraction(2 * (ranks - 1), ranks)) << p;
    EXPECT_EQ(found.sent_max, circulant.sent_max) << p;
    EXPECT_EQ(found.combined_max, fraction(1)) << p;  // p blocks, one more than circulant's
  }
}

// The table has one row, O(p) blocks, for hypercube and recursive doubling.
TEST(ErrataOfTraeff, RecursiveDoublingSendsPLogPBlocks) {
  for (std::uint32_t bits = 1; bits <= 8; ++bits) {
    std::int64_t const p = std::int64_t{1} << bits;
    auto const blocks = [&](char const* name) { return found_of(name, static_cast<rank_t>(p)).sent_max * p; };
    EXPECT_EQ(blocks("recursive_doubling"), fraction(p * bits));
    EXPECT_EQ(blocks("recursive_halving"), fraction(2 * (p - 1)));
  }
}

// "A doubling sequence" is 1, 2, 3, 6, 11 on 22 ranks.
TEST(ErrataOfTraeff, SkipsDoubleRoughly) {
  auto const made = schedule_of("circulant", 22);
  std::vector<rank_t> skips;
  for (std::size_t step = 0; step < 5; ++step) {
    auto const peers = peers_of(made, step, 0);
    ASSERT_EQ(peers.size(), 1u);
    skips.push_back(std::min(peers[0], 22 - peers[0]));
  }
  EXPECT_EQ(skips, (std::vector<rank_t>{11, 6, 3, 2, 1}));
}

// Lemma 5's proof has as many ranks in each node.
TEST(ErrataOfPatarasuk, RingsInRankOrderMeetNobodyOnNodesOfAnySizes) {
  for (auto const& nodes : std::vector<std::vector<rank_t>>{{3, 2}, {4, 3, 3}, {1, 5, 2, 7}, {4, 4}}) {
    rank_t const ranks = std::accumulate(nodes.begin(), nodes.end(), rank_t{0});
    EXPECT_EQ(busiest_edge(schedule_of("ring", ranks), two_level_tree(nodes)), 1u) << text_of(nodes);
    auto const dealt = "ring(permute=stride:" + std::to_string(nodes.size()) + ")";
    EXPECT_GT(busiest_edge(schedule_of(dealt, ranks), two_level_tree(nodes)), 1u) << text_of(nodes);
  }
}

/// Calls of a reduction in a step: neighbouring blocks of one owner and the same holders are one.
std::size_t calls_in(schedule const& made, std::size_t step) {
  std::size_t calls = 0;
  std::vector<assignment> all = made.steps[step];
  std::ranges::sort(all, {}, [](assignment const& a) { return std::pair(a.rank, a.block); });
  auto const holders = [&](assignment const& a) {
    std::set<rank_t> ranks;
    for (source const& s : made.from(a)) ranks.insert(s.rank);
    return ranks;
  };
  for (std::size_t k = 0; k < all.size(); ++k)
    calls += k == 0 || all[k].rank != all[k - 1].rank || all[k].block != all[k - 1].block + 1 ||
             holders(all[k]) != holders(all[k - 1]);
  return calls;
}

std::vector<std::vector<rank_t>> settings_of_figure_4() {
  return {{2, 2}, {3, 2}, {3, 3}, {4, 3}, {4, 4}, {3, 3, 3}, {4, 3, 3}, {4, 4, 3}, {4, 4, 4}};
}

// Figure 4c has no more than 1.5 calls a learner. Its own Figure 2 has 8 of 5 learners at the root.
TEST(ErrataOfFlexReduce, LearnersOfTwoAndThreeCallMoreThanOneAndAHalfTimes) {
  EXPECT_EQ(calls_in(flexreduce(two_level_tree({2, 3})), 1), 8u);
  EXPECT_EQ(calls_in(flexreduce(two_level_tree({4, 3})), 1), 12u);
  double most_at_root = 0, most_of_both = 0;
  for (auto const& nodes : settings_of_figure_4()) {
    auto const made = flexreduce(two_level_tree(nodes));
    auto const inside = static_cast<double>(calls_in(made, 0)), root = static_cast<double>(calls_in(made, 1));
    most_at_root = std::max(most_at_root, root / made.ranks);
    most_of_both = std::max(most_of_both, (inside + root) / 2 / made.ranks);
  }
  EXPECT_DOUBLE_EQ(most_at_root, 12. / 7);
  EXPECT_DOUBLE_EQ(most_of_both, 19. / 14);
}

// Section III has no set of ranges that is continuous and owned by holders, "as in the example". The example's own plan is one.
TEST(ErrataOfFlexReduce, TheExampleHasContinuousRangesOfHolders) {
  for (auto const& nodes : settings_of_figure_4()) {
    auto const made = flexreduce(two_level_tree(nodes));
    std::vector<std::vector<block_t>> owned(made.ranks);
    for (assignment const& a : made.steps[1]) {
      owned[a.rank].push_back(a.block);
      EXPECT_TRUE(std::ranges::any_of(made.from(a), [&](source const& s) { return s.rank == a.rank; }))
          << text_of(nodes);
    }
    for (auto& blocks : owned) {
      std::ranges::sort(blocks);
      ASSERT_FALSE(blocks.empty()) << text_of(nodes);
      EXPECT_EQ(blocks.back() - blocks.front() + 1, blocks.size()) << text_of(nodes);
    }
  }
}

std::int64_t power(std::int64_t base, std::int64_t exponent) {
  std::int64_t product = 1;
  for (; exponent > 0; --exponent) product *= base;
  return product;
}

// Theorem 1, case 3, and property (2): the sums are of (n + 1)^(i − 1) from i = 1.
TEST(ErrataOfEnd, WhatRoundsAddUpToBeginsWithTheOwnValue) {
  for (rank_t n = 1; n <= 8; ++n)
    for (std::uint32_t rounds = 1; power(n + 1, rounds) <= 128; ++rounds) {
      auto const ranks = static_cast<rank_t>(power(n + 1, rounds));
      auto const made = schedule_of("dissemination(n=" + std::to_string(n) + ")", ranks);
      std::int64_t held = 1, printed = 0;
      for (std::uint32_t i = 1; i <= rounds; ++i) {
        held += static_cast<std::int64_t>(peers_of(made, i - 1, 0).size()) * power(n + 1, i - 1);
        printed += n * power(n + 1, i);
      }
      EXPECT_EQ(held, ranks) << "n = " << n;
      EXPECT_NE(printed, ranks - 1) << "n = " << n;
    }
}

// Theorem 1, case 3 lets the algorithm end after k − 1 rounds if s = 1. It does on (n + 1)^(k − 1) ranks alone, where k is one less.
TEST(ErrataOfEnd, NoNumberOfRanksEndsARoundEarly) {
  for (rank_t n = 1; n <= 8; ++n)
    for (rank_t ranks = 2; ranks <= 64; ++ranks) {
      if (!adapt(ranks, n)) continue;
      auto const found = found_of("adapted_dissemination(n=" + std::to_string(n) + ")", ranks);
      EXPECT_EQ(found.steps, ceil_log(ranks, n + 1)) << ranks << " by " << n;
      EXPECT_LT(power(n + 1, found.steps - 1), ranks) << ranks << " by " << n;
    }
}

bool have_opposite_messages(schedule const& made) {
  for (std::size_t step = 0; step < made.steps.size(); ++step)
    for (rank_t rank = 0; rank < made.ranks; ++rank)
      for (rank_t const peer : peers_of(made, step, rank))
        if (std::ranges::count(peers_of(made, step, peer), rank) > 0) return true;
  return false;
}

// Section III-D has no two ranks that send to each other in one round.
TEST(ErrataOfEnd, RanksDoSendToEachOtherInOneRound) {
  EXPECT_TRUE(have_opposite_messages(schedule_of("dissemination(n=2)", 9)));
  EXPECT_EQ(peers_of(schedule_of("dissemination(n=2)", 9), 1, 0), (std::vector<rank_t>{3, 6}));
  EXPECT_EQ(peers_of(schedule_of("dissemination(n=2)", 9), 1, 3), (std::vector<rank_t>{0, 6}));
  auto const example = schedule_of("bruck_ho(n=2)", 8);
  EXPECT_EQ(peers_of(example, 1, 0), (std::vector<rank_t>{3, 5}));
  EXPECT_EQ(peers_of(example, 1, 3), (std::vector<rank_t>{0, 6}));
  EXPECT_EQ(peers_of(example, 1, 5), (std::vector<rank_t>{0, 2}));
  int so_many = 0;
  for (rank_t ranks = 2; ranks <= 64; ++ranks) so_many += have_opposite_messages(schedule_of("bruck_ho(n=2)", ranks));
  EXPECT_EQ(so_many, 43);
}

// Section III-C has n results in every round of Bruck and Ho's.
TEST(ErrataOfEnd, TheFirstRoundReadsTheLeadingDigit) {
  for (rank_t n = 1; n <= 8; ++n)
    for (rank_t ranks = 2; ranks <= 64; ++ranks) {
      auto const made = schedule_of("bruck_ho(n=" + std::to_string(n) + ")", ranks);
      rank_t leading = ranks - 1;
      while (leading > n) leading /= n + 1;
      EXPECT_EQ(peers_of(made, 0, 0).size(), leading) << ranks << " by " << n;
      for (std::size_t round = 1; round < made.steps.size(); ++round)
        EXPECT_EQ(peers_of(made, round, 0).size(), n) << ranks << " by " << n;
    }
  EXPECT_EQ(peers_of(schedule_of("bruck_ho(n=2)", 5), 0, 0).size(), 1u);
}

}  // namespace
}  // namespace coset::schedule::testing
