// SPDX-License-Identifier: Apache-2.0
// Schedules that move no more than they have to: in how few steps. docs/algorithms.md proves the bound.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "planning/schedule/core/assembly.hpp"
#include "planning/schedule/core/validate.hpp"
#include "planning/schedule/model/demand.hpp"
#include "schedule/schedules.hpp"

namespace coset::schedule {
namespace {

using testing::ceil_log;
using testing::schedule_of;

/// The halves of an even number of ranks, which swap what they have.
std::string halves_of(rank_t ranks, rank_t radix = 2) {
  return "tower(factors=" + std::to_string(ranks / 2) + "x2,radix=" + std::to_string(radix) + ",saved_steps=1)";
}

fraction least_volume(rank_t ranks) { return {2 * (std::int64_t{ranks} - 1), ranks}; }

TEST(LeastVolume, HalvesThatSwapTakeAStepLessForOneCombineMore) {
  for (rank_t ranks = 4; ranks <= 64; ranks += 2) {
    properties const found = validate(schedule_of(halves_of(ranks), ranks));
    EXPECT_EQ(found.steps, 2 * ceil_log(ranks) - 1) << ranks;
    EXPECT_EQ(found.sent_max, least_volume(ranks)) << ranks;
    EXPECT_EQ(found.received_max, least_volume(ranks)) << ranks;
    EXPECT_EQ(found.combined_max, fraction(1)) << ranks;  // P blocks; one owner of each block would combine P − 1
    EXPECT_EQ(found.fan_in, 1u) << ranks;
    EXPECT_TRUE(found.rank_uniform) << ranks;
    for (rank_t radix = 3; radix <= 8; ++radix) {
      properties const wide = validate(schedule_of(halves_of(ranks, radix), ranks));
      EXPECT_EQ(wide.steps, 2 * ceil_log(ranks / 2, radix) + 1) << ranks << " in radix " << radix;
      EXPECT_EQ(wide.sent_max, least_volume(ranks)) << ranks << " in radix " << radix;
      EXPECT_TRUE(wide.rank_uniform) << ranks << " in radix " << radix;
    }
  }
}

/// Most peers that a rank reads from in a step, or that read from it.
std::uint32_t ports_of(schedule const& made) {
  std::size_t most = 0;
  for (std::size_t i = 0; i < made.steps.size(); ++i) {
    std::set<std::pair<rank_t, rank_t>> reads;
    for (assignment const& a : made.steps[i])
      for (source const& s : made.from(a))
        if (s.rank != a.rank) reads.emplace(a.rank, s.rank);
    std::vector<std::size_t> in(made.ranks), out(made.ranks);
    for (auto const& [reader, from] : reads) most = std::max({most, ++in[reader], ++out[from]});
  }
  return static_cast<std::uint32_t>(most);
}

/// What docs/algorithms.md proves of the least volume, with so many ports: one rank is the first to have a block's result, or two are.
std::uint32_t least_steps_of(rank_t ranks, std::uint32_t ports) {
  return std::min(2 * ceil_log(ranks, ports + 1), 2 * ceil_log((ranks + 1) / 2, ports + 1) + 1);
}

/// Every algorithm with every parameter that is tried, and towers of any two factors, where they are defined.
std::vector<schedule> all_on(rank_t ranks) {
  auto named = candidates_for({.ranks = ranks}, cost_model::flat(1, 1, 1));
  for (rank_t f = 2; f < ranks; ++f)
    for (rank_t saved = 1; ranks % f == 0 && saved <= ceil_log(f); ++saved)
      named.push_back(
          {"tower",
           {{"factors", std::to_string(ranks / f) + "x" + std::to_string(f)}, {"saved_steps", std::to_string(saved)}}});
  std::vector<schedule> all;
  for (algorithm const& how : named) {
    try {
      all.push_back(make(how, ranks));
    } catch (schedule_error const&) {  // as adapted_dissemination of 13
    }
  }
  return all;
}

TEST(LeastVolume, NoScheduleTakesFewerStepsThanIsProved) {
  for (rank_t ranks = 3; ranks <= 24; ++ranks) {
    std::set<std::string> quickest;
    for (schedule const& made : all_on(ranks)) {
      properties const found = validate(made);
      if (found.sent_max != least_volume(ranks) || found.received_max != least_volume(ranks)) continue;
      std::uint32_t const ports = ports_of(made);
      EXPECT_GE(found.steps, least_steps_of(ranks, ports)) << made.algorithm << " on " << ranks;
      if (ports == 1 && found.steps < 2 * ceil_log(ranks)) quickest.insert(made.algorithm);
    }
    std::set<std::string> expected;
    if (ranks % 2 == 0) expected.insert("tower");
    if (std::has_single_bit(ranks)) expected.insert("hybrid");
    EXPECT_EQ(quickest, expected) << ranks;
  }
}

/// A part of the vector: who sends it to whom in the steps before two ranks swap it; the way back is the same backwards.
struct swapped {
  using arc = std::pair<rank_t, rank_t>;
  piece where;
  std::array<std::vector<arc>, 2> folded;
  arc swap;
};

schedule swapped_by_parts(rank_t ranks, std::vector<swapped> const& parts) {
  assembly made(ranks, {parts[0].where.high, parts[1].where.high});
  auto const fold = [&](rank_t to, piece where, std::vector<rank_t> const& from) { made.fold(to, where, from); };
  for (std::size_t const i : {0u, 1u}) {
    for (swapped const& part : parts)
      for (auto const& [from, to] : part.folded[i]) fold(to, part.where, {to, from});
    made.end_step();
  }
  for (swapped const& part : parts)
    for (rank_t const to : {part.swap.first, part.swap.second})
      fold(to, part.where, {part.swap.first, part.swap.second});
  made.end_step();
  for (std::size_t const i : {1u, 0u}) {
    for (swapped const& part : parts)
      for (auto const& [from, to] : part.folded[i]) fold(from, part.where, {to});
    made.end_step();
  }
  return std::move(made).finish();
}

TEST(LeastVolume, FiveRanksTakeFiveStepsWhereGeneralizedTakesSix) {
  fraction const low(3, 5), high(4, 5);
  schedule const made = swapped_by_parts(5, {{{0, low}, {{{{3, 4}}, {{2, 0}, {4, 1}}}}, {0, 1}},
                                             {{low, high}, {{{{1, 2}, {4, 3}}, {{0, 2}}}}, {2, 3}},
                                             {{high, 1}, {{{{4, 3}}, {{0, 2}, {1, 3}}}}, {2, 3}}});
  properties const found = validate(made);
  EXPECT_EQ(found.steps, 5u);
  EXPECT_EQ(found.sent_max, least_volume(5));
  EXPECT_EQ(found.received_max, least_volume(5));
  EXPECT_EQ(ports_of(made), 1u);
  EXPECT_EQ(validate(schedule_of("generalized", 5)).steps, 6u);
}

}  // namespace
}  // namespace coset::schedule
