// SPDX-License-Identifier: Apache-2.0
// Prices by hand, the seed paper's estimate against the optimum, and what the selector may choose.
#include "planning/schedule/model/cost.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "command/shown/selector.hpp"
#include "planning/schedule/registry/named_fold.hpp"

namespace coset::schedule {
namespace {

double price(std::string const& text, rank_t ranks, cost_model const& model, double bytes) {
  return counts(make(algorithm::parse(text), ranks), model).seconds(bytes);
}

TEST(Cost, IsAlphaPerRoundBetaPerByteAndGammaPerCombinedByte) {
  cost_model const model = cost_model::flat(5, 2, 3);
  // Ring on 4 ranks, 100 bytes: 6 steps of a quarter, half of them with a combine.
  EXPECT_DOUBLE_EQ(price("ring", 4, model, 100), 6 * 5 + 6 * 25 * 2 + 3 * 25 * 3);
  // Recursive doubling: two steps of everything.
  EXPECT_DOUBLE_EQ(price("recursive_doubling", 4, model, 100), 2 * 5 + 2 * 100 * 2 + 2 * 100 * 3);
}

TEST(Cost, OnePortServesPeersOneAfterTheOtherAndManyServeThemAtOnce) {
  cost_model model = cost_model::flat(5, 2, 0);
  EXPECT_DOUBLE_EQ(price("direct", 4, model, 100), 2 * (3 * 5 + 75 * 2));
  model.ports = model.peers_per_latency = 3;
  EXPECT_DOUBLE_EQ(price("direct", 4, model, 100), 2 * (5 + 25 * 2));
  model.ports = model.peers_per_latency = 2;
  EXPECT_DOUBLE_EQ(price("direct", 4, model, 100), 2 * (2 * 5 + 37.5 * 2));
}

// Three peers send a whole vector of 100 bytes each.
TEST(Cost, OfMessagesAtOnceLatenciesOverlapAndBytesShareThePort) {
  cost_model model = cost_model::flat(5, 2, 0);
  auto const at_once = [&](rank_t cards, rank_t messages) {
    model.ports = cards;
    model.peers_per_latency = messages;
    return price("direct(saved_steps=1)", 4, model, 100);
  };
  EXPECT_DOUBLE_EQ(at_once(1, 1), 3 * 5 + 300 * 2);
  EXPECT_DOUBLE_EQ(at_once(1, 2), 2 * 5 + 300 * 2);
  EXPECT_DOUBLE_EQ(at_once(1, 3), 5 + 300 * 2);
  EXPECT_DOUBLE_EQ(at_once(2, 3), 5 + 150 * 2);
  EXPECT_DOUBLE_EQ(at_once(3, 3), 5 + 100 * 2);
}

TEST(Cost, EachLevelHasItsOwnLink) {
  cost_model model;
  model.links = {{2, 1, 0.5, 0.25}, {4, 10, 3, 0.125}};
  model.peers_per_latency = 100;
  // Pairs first: half a vector inside, then a quarter across, and back.
  EXPECT_DOUBLE_EQ(price("product(dims=2x2)", 4, model, 100), 2 * (1 + 0.25 + 50 * 0.5) + 2 * (10 + 0.125 + 25 * 3));
  counts const found(make(algorithm::parse("product(dims=2x2)"), 4), model);
  EXPECT_EQ(found.volumes()[0].largest, fraction(1));
  EXPECT_EQ(found.volumes()[1].largest, fraction(1, 2));
}

TEST(Cost, StreamsBeyondTheLimitArePenalized) {
  cost_model model = cost_model::flat(1, 0, 0);
  model.peers_per_latency = 100;
  model.streams = 2;
  model.per_stream_beyond = 0.5;
  EXPECT_DOUBLE_EQ(price("direct(saved_steps=1)", 6, model, 8), 1 + 3 * 0.5);
}

/// Red if a value that a rank reads twice is counted twice, or the own one at all.
TEST(Cost, WhatAllRanksDoAlikeCostsWhatOneOfThemDoes) {
  cost_model model = cost_model::flat(5, 2, 3);
  std::size_t compared = 0;
  for (std::string const text : {"ring", "direct", "direct(saved_steps=1)", "generalized", "generalized(saved_steps=2)",
                                 "generalized(radix=3)", "capped(cap=2)", "circulant(saved_steps=1)", "bruck",
                                 "pat(cap=2)", "fold(shifts=dilated,saved_steps=2)", "swing"})
    for (rank_t ranks = 1; ranks <= 20; ++ranks)
      for (verb const what : {verb::allreduce, verb::reduce_scatter, verb::allgather, verb::barrier}) {
        auto const how = completed(algorithm::parse(text));
        try {
          counts const whole(make(how, ranks, what), model);
          auto const alike = symmetric_form(how, ranks, what);
          if (!alike) continue;
          auto const steps = steps_of(*alike);
          counts const one(steps, level_machine(ranks, model));
          std::int64_t received = 0;
          for (alike_step const& step : steps.steps)
            for (auto const& [from, volume] : step.reads) received += volume;
          EXPECT_EQ(one.seconds(100), whole.seconds(100)) << text << " " << ranks << " " << name_of(what);
          EXPECT_EQ(fraction(received, steps.parts), whole.volumes().front().largest) << text << " " << ranks;
          ++compared;
        } catch (schedule_error const&) {  // so many ranks have no such chain
        }
      }
  EXPECT_GT(compared, 500u);
}

TEST(Cost, RefusesAModelWithoutLevels) {
  EXPECT_THROW(counts(make(algorithm::parse("ring"), 4), cost_model{}), schedule_error);
}

TEST(Cost, KolmakovEstimateOfSavedStepsIsTheOptimumInMostCasesAndNearItInAll) {
  cost_model const model = cost_model::ten_gigabit();
  int optimal = 0, cases = 0;
  for (rank_t const ranks : {5u, 7u, 11u, 22u, 31u, 33u, 64u, 127u}) {
    auto const levels = static_cast<std::uint32_t>(std::bit_width(ranks - 1));
    std::vector<counts> by_saved;
    for (std::uint32_t r = 0; r <= levels; ++r)
      by_saved.emplace_back(make(algorithm::parse("generalized(saved_steps=" + std::to_string(r) + ")"), ranks), model);
    for (double bytes = 64; bytes <= 1 << 24; bytes *= 2, ++cases) {
      std::vector<double> seconds;
      for (counts const& c : by_saved) seconds.push_back(c.seconds(bytes));
      double const best = *std::min_element(seconds.begin(), seconds.end());
      double const estimated = seconds.at(saved_steps(model, ranks, bytes));
      optimal += estimated == best;
      EXPECT_LT(estimated, 1.12 * best) << ranks << " ranks, " << bytes << " bytes";
    }
  }
  EXPECT_GT(optimal, cases * 9 / 10);
}

TEST(Cost, TheEstimateIsClamped) {
  cost_model const model = cost_model::ten_gigabit();
  EXPECT_EQ(saved_steps(model, 1, 100), 0u);
  EXPECT_EQ(saved_steps(model, 100, 0), 7u);
  EXPECT_EQ(saved_steps(model, 100, 1), 7u);
  EXPECT_EQ(saved_steps(model, 100, 1e12), 0u);
}

TEST(Selector, TakesFewStepsForSmallVectorsAndTheLeastVolumeForLargeOnes) {
  selector const choice({.ranks = 22}, cost_model::ten_gigabit());
  EXPECT_LE(choice.best(8).which->found.steps, 6u);
  EXPECT_EQ(choice.best(1e9).which->found.received_max, choice.best(1e9).which->found.volume_bound);
  auto const ranked = choice.rank(10000);
  for (std::size_t i = 1; i < ranked.size(); ++i) EXPECT_LE(ranked[i - 1].seconds, ranked[i].seconds);
}

TEST(Selector, OffersOnlyWhatTheOperationAllows) {
  for (rank_t const ranks : {1u, 6u, 7u, 16u}) {
    selector const exact({.ranks = ranks, .commutative = false}, cost_model::ten_gigabit());
    for (candidate const& c : exact.candidates()) EXPECT_TRUE(c.found.ordered && c.found.rank_uniform) << c.how.text();
    selector const any({.ranks = ranks, .same_bits = false}, cost_model::ten_gigabit());
    EXPECT_GE(any.candidates().size(), exact.candidates().size());
  }
}

TEST(Selector, KeepsSavedStepsWhereAllRanksFoldAlike) {
  selector const same_bits({.ranks = 16}, cost_model::ten_gigabit());
  for (std::string const saved : {"1", "2", "3", "4"}) {
    algorithm const wanted{"generalized", {{"radix", "2"}, {"saved_steps", saved}}};
    EXPECT_EQ(std::ranges::count(same_bits.candidates(), wanted, &candidate::how), 1) << saved;
  }
}

TEST(Selector, ServesEveryVerb) {
  for (verb const what : {verb::allreduce, verb::reduce, verb::reduce_scatter, verb::allgather, verb::broadcast,
                          verb::scan, verb::exclusive_scan, verb::barrier})
    for (rank_t const ranks : {1u, 2u, 7u, 12u})
      EXPECT_NO_THROW(
          selector({.verb = what, .ranks = ranks, .root = ranks / 2}, cost_model::ten_gigabit()).best(1000));
}

TEST(Selector, UsesTheLevelsOfTheModel) {
  cost_model model;
  model.links = {{4, 1e-7, 1e-10}, {12, 1e-5, 1e-8}};
  model.peers_per_latency = 100;
  EXPECT_EQ(selector({.ranks = 12}, model).best(1e7).which->how.name, "product");
}

TEST(Selector, RefusesADemandThatNothingServes) {
  EXPECT_THROW(selector({.ranks = 0}, cost_model::ten_gigabit()), schedule_error);
}

}  // namespace
}  // namespace coset::schedule
