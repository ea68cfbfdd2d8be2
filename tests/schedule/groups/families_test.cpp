// SPDX-License-Identifier: Apache-2.0
// Radix, cap and saved steps on every family of folds, and on random chains over random groups.
#include <gtest/gtest.h>

#include <algorithm>

#include "planning/schedule/core/validate.hpp"
#include "planning/schedule/groups/covering.hpp"
#include "planning/schedule/registry/foldings.hpp"
#include "schedule/effort.hpp"
#include "schedule/groups/some_chains.hpp"
#include "schedule/schedules.hpp"

namespace coset::schedule {
namespace {

using testing::below;
using testing::covering_shifts;
using testing::generator;
using testing::schedule_of;

/// Those that take a cap, on 24 ranks.
std::vector<std::string> families() {
  return {"generalized",
          "circulant",
          "bruck",
          "dilated",
          "pat",
          "product(dims=6x4)",
          "product(dims=6x4,radix=3)",
          "swing",
          "bine(far=1)",
          "bine",
          "tower(factors=6x4)",
          "blueconnect(dims=6x4)"};
}

algorithm with(std::string const& text, std::string const& key, std::uint32_t value) {
  auto how = algorithm::parse(text);
  how.parameters[key] = std::to_string(value);
  return how;
}

/// The most blocks that one rank reads of one other in a step.
std::size_t most_blocks(schedule const& made) {
  std::size_t most = 0;
  for (auto const& step : made.steps) {
    std::map<std::pair<rank_t, rank_t>, std::set<block_t>> read;
    for (assignment const& a : step)
      for (source const& s : made.from(a))
        if (s.rank != a.rank) read[{a.rank, s.rank}].insert(a.block);
    for (auto const& [pair, blocks] : read) most = std::max(most, blocks.size());
  }
  return most;
}

/// Whether what each rank folds, or copies of one peer, is a run of neighbouring blocks in every step.
bool reads_runs(schedule const& made) {
  for (auto const& step : made.steps) {
    std::map<std::tuple<rank_t, rank_t, bool>, std::set<block_t>> read;
    for (assignment const& a : step)
      for (source const& s : made.from(a)) read[{a.rank, s.rank, a.count > 1}].insert(a.block);
    for (auto const& [of, blocks] : read)
      if (*blocks.rbegin() - *blocks.begin() + 1 != blocks.size()) return false;
  }
  return true;
}

TEST(Families, BlocksOfAProductAreReadInRuns) {
  for (std::string const saved : {"0", "1", "2", "3"}) {
    auto const how = algorithm::parse("product(dims=4x3x2,saved_steps=" + saved + ")");
    for (verb const what : {verb::allreduce, verb::reduce, verb::broadcast}) {
      auto const made = make(how, 24, what, 0);
      EXPECT_TRUE(reads_runs(made)) << how.text() << " " << name_of(what);
    }
  }
  // Where verbs say whose a block is, rank r owns the r-th.
  EXPECT_FALSE(reads_runs(make(algorithm::parse("product(dims=4x3x2)"), 24, verb::reduce_scatter)));
}

TEST(Families, KeepTheirCapAndTheLeastVolume) {
  for (std::string const& text : families()) {
    auto const plain = validate(schedule_of(text, 24));
    std::uint32_t last = UINT32_MAX;
    for (rank_t const cap : {1u, 2u, 3u, 5u, 24u}) {
      auto const made = make(with(text, "cap", cap), 24);
      auto const found = validate(made);
      EXPECT_LE(most_blocks(made), cap) << text;
      EXPECT_EQ(found.received_max, found.volume_bound) << text;
      EXPECT_LE(found.steps, last) << text;
      last = found.steps;
      for (verb const what : {verb::reduce_scatter, verb::allgather, verb::reduce})
        EXPECT_NO_THROW(validate(make(with(text, "cap", cap), 24, what, 7))) << text;
    }
    EXPECT_EQ(last, plain.steps) << text;
    EXPECT_NO_THROW(validate(make(with(text, "saved_steps", 1), 24))) << text;
    auto both = with(text, "cap", 3);
    both.parameters["saved_steps"] = "2";
    EXPECT_LE(validate(make(both, 24)).steps, validate(make(with(text, "cap", 3), 24)).steps - 2) << text;
  }
}

TEST(Families, OfPowersTakeARadix) {
  for (std::string const text : {"bruck", "pat", "generalized", "circulant", "dilated"})
    for (rank_t radix = 2; radix <= 6; ++radix)
      for (rank_t ranks = 2; ranks <= by_effort<rank_t>(24, 48, 90); ++ranks) {
        auto const found = validate(make(with(text, "radix", radix), ranks));
        EXPECT_EQ(found.steps, 2 * testing::ceil_log(ranks, radix)) << text << radix << " P=" << ranks;
        EXPECT_EQ(found.received_max, found.volume_bound) << text << radix << " P=" << ranks;
        EXPECT_LE(found.fan_in, radix - 1);
      }
  EXPECT_THROW(schedule_of("bruck(radix=1)", 8), schedule_error);
}

TEST(Families, KeepCyclicOrderUnderACap) {
  for (rank_t ranks = 2; ranks <= 24; ++ranks)
    EXPECT_TRUE(validate(schedule_of("dilated(ordered=1,cap=2)", ranks)).ordered) << ranks;
}

group random_group(generator& random) {
  auto const all = testing::groups_in_one_order(24);
  switch (below(random, 3)) {
    case 0:
      return group::cyclic(2 + below(random, 23));
    case 1:
      return group({2 + below(random, 3), 2 + below(random, 5)});
    default:
      return all[below(random, static_cast<rank_t>(all.size()))];
  }
}

/// Red if a step of several shifts, cut by a cap, loses or repeats a vector, or is replayed wrongly for saved steps.
TEST(Families, RandomChainsOverRandomGroupsTakeAnyRadixCapAndSavedSteps) {
  generator random(31);
  for (int round = 0; round < by_effort(60, 200, 2000); ++round) {
    group const g = random_group(random);
    std::vector<element> single;
    for (auto const& step : covering_shifts(g, random)) single.push_back(step.front());
    rank_t const radix = 2 + below(random, 4), cap = below(random, 4);
    chain made;
    try {
      made = with_cap(covering_chain(g, in_radix(g, single, radix)), cap);
    } catch (schedule_error const& e) {
      EXPECT_TRUE(std::string(e.what()).ends_with("leave it out")) << e.what();
      continue;  // multiples of later shifts reach what this one does
    }
    for (auto const& step : made) {
      EXPECT_LE(step.size(), radix - 1);
      for (transfer const& sent : step) EXPECT_TRUE(cap == 0 || sent.lags.size() <= cap);
    }
    auto const saved = below(random, static_cast<rank_t>(made.size()) + 1);
    auto const found = validate(expand(fold(g, made, made, saved)));
    // Of several steps of one shift, as a cap makes them, the copies for saved steps may leave some nothing to read.
    EXPECT_LE(found.steps, 2 * made.size() - saved) << "round " << round;
    if (cap == 0) {
      EXPECT_EQ(found.steps, 2 * made.size() - saved) << "round " << round;
    }
    if (saved == 0) {
      EXPECT_EQ(found.received_max, found.volume_bound) << "round " << round;
    }
  }
}

/// Whatever the group does not commute in: ranks of a coset first, all reads of the first steps stay inside it.
TEST(Families, FoldWithinCosetsFirstByName) {
  for (auto const& [text, ranks, width] : {std::tuple{"fold(group=d10x3,shifts=1+9+3+5+10+10)", 30u, 10u},
                                           std::tuple{"fold(group=2.5.4x3,shifts=1+2+4+4+10+10)", 30u, 10u},
                                           std::tuple{"fold(group=3.7.2x2,shifts=1+2+3+6+12+21)", 42u, 21u},
                                           std::tuple{"fold(group=4xd6,shifts=2+1+4+20+12)", 24u, 4u}}) {
    schedule made;
    try {
      made = schedule_of(text, ranks);
    } catch (schedule_error const& e) {
      ADD_FAILURE() << text << ": " << e.what();
      continue;
    }
    EXPECT_NO_THROW(validate(made)) << text;
    bool has_left = false;
    for (std::size_t i = 0; i < made.steps.size() / 2; ++i) {
      std::size_t outside = 0, reads = 0;
      for (assignment const& a : made.steps[i])
        for (source const& s : made.from(a)) {
          if (s.rank == a.rank) continue;
          ++reads;
          outside += s.rank / width != a.rank / width;
        }
      EXPECT_TRUE(outside == 0 || outside == reads) << text << " step " << i;
      EXPECT_FALSE(has_left && outside == 0) << text << " step " << i << " is inside again";
      has_left = has_left || outside > 0;
    }
    EXPECT_TRUE(has_left) << text;
  }
}

}  // namespace
}  // namespace coset::schedule
