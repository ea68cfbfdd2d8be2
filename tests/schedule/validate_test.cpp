// SPDX-License-Identifier: Apache-2.0
// validate() on schedules written by hand: what it measures, and what it refuses.
#include "planning/schedule/core/validate.hpp"

#include <gtest/gtest.h>

#include "planning/schedule/registry/algorithm.hpp"

namespace coset::schedule {
namespace {

using assignments = std::vector<std::pair<assignment, std::vector<source>>>;

/// A whole-vector schedule from literal steps; `first` and `count` of the assignments are filled in.
schedule written(rank_t ranks, std::vector<assignments> const& steps, std::vector<slot_t> const& result) {
  schedule s;
  s.ranks = ranks;
  s.blocks = {{0, 1}};
  for (assignments const& step : steps) {
    s.steps.emplace_back();
    for (auto [made, from] : step) {
      made.first = static_cast<std::uint32_t>(s.sources.size());
      made.count = static_cast<std::uint32_t>(from.size());
      s.sources.insert(s.sources.end(), from.begin(), from.end());
      s.steps.back().push_back(made);
    }
  }
  for (slot_t const slot : result) s.result.push_back({slot});
  return s;
}

assignment to(rank_t rank, slot_t slot) { return {rank, 0, slot, 0, 0}; }

schedule exchange_of_two() {
  return written(2, {{{to(0, 1), {{0, 0}, {1, 0}}}, {to(1, 1), {{0, 0}, {1, 0}}}}}, {1, 1});
}

void expect_refused(schedule const& s, std::string const& reason) {
  try {
    validate(s);
    ADD_FAILURE() << "accepted, instead of: " << reason;
  } catch (schedule_error const& e) {
    EXPECT_NE(std::string(e.what()).find(reason), std::string::npos) << e.what();
  }
}

TEST(Validate, MeasuresAnExchangeOfTwoRanks) {
  properties const found = validate(exchange_of_two());
  EXPECT_EQ(found.steps, 1u);
  EXPECT_EQ(found.sent_max, fraction(1));
  EXPECT_EQ(found.received_max, fraction(1));
  EXPECT_EQ(found.combined_max, fraction(1));
  EXPECT_EQ(found.volume_bound, fraction(1));
  EXPECT_EQ(found.fan_in, 1u);
  EXPECT_TRUE(found.rank_uniform);
  EXPECT_TRUE(found.ordered);
}

TEST(Validate, SeesRanksThatBracketDifferently) {
  schedule s = exchange_of_two();
  std::swap(s.sources[2], s.sources[3]);
  properties const found = validate(s);
  EXPECT_FALSE(found.rank_uniform);
  EXPECT_FALSE(found.ordered);
}

TEST(Validate, AStepOfOwnReadsIsNotCountedAndCostsNoVolume) {
  schedule const s = written(
      2, {{{to(0, 1), {{1, 0}}}, {to(1, 1), {{0, 0}}}}, {{to(0, 2), {{0, 0}, {0, 1}}}, {to(1, 2), {{1, 1}, {1, 0}}}}},
      {2, 2});
  properties const found = validate(s);
  EXPECT_EQ(found.steps, 1u);
  EXPECT_EQ(found.received_max, fraction(1));
  EXPECT_TRUE(found.ordered);
}

TEST(Validate, TheSameValueReadTwiceInAStepCountsOnce) {
  schedule const s =
      written(2, {{{to(0, 1), {{0, 0}, {1, 0}}}, {to(0, 2), {{1, 0}}}, {to(1, 1), {{0, 0}, {1, 0}}}}}, {1, 1});
  EXPECT_EQ(validate(s).received_max, fraction(1));
}

TEST(Validate, AnOwnSlotMayBeReadInTheStepThatWritesIt) {
  schedule const s =
      written(2, {{{to(0, 1), {{1, 0}}}, {to(0, 2), {{0, 0}, {0, 1}}}, {to(1, 1), {{0, 0}, {1, 0}}}}}, {2, 1});
  EXPECT_NO_THROW(validate(s));
}

TEST(Validate, RefusesAPeersValueOfTheSameStep) {
  expect_refused(written(2, {{{to(0, 1), {{0, 0}, {1, 0}}}, {to(1, 1), {{0, 1}}}}}, {1, 1}),
                 "step 0, rank 1, block 0, slot 1: reads slot 1 of rank 0 before it is written");
}

TEST(Validate, RefusesASlotWrittenTwice) {
  schedule s = exchange_of_two();
  s.steps[0].push_back(s.steps[0][0]);
  expect_refused(s, "step 0, rank 0, block 0, slot 1: is written twice");
}

TEST(Validate, RefusesAContributionCountedTwiceUnlessIdempotent) {
  schedule s = written(2, {{{to(0, 1), {{0, 0}, {1, 0}, {1, 0}}}, {to(1, 1), {{0, 0}, {1, 0}}}}}, {1, 1});
  expect_refused(s, "step 0, rank 0, block 0, slot 1: counts a contribution of slot 0 of rank 1 twice");
  s.idempotent_only = true;
  EXPECT_FALSE(validate(s).ordered);
}

TEST(Validate, APartialThatNoResultUsesMayCountTwice) {
  EXPECT_NO_THROW(validate(written(
      2, {{{to(0, 1), {{0, 0}, {1, 0}}}, {to(0, 2), {{1, 0}, {1, 0}}}, {to(1, 1), {{0, 0}, {1, 0}}}}}, {1, 1})));
}

TEST(Validate, RefusesAMissingContribution) {
  schedule s = exchange_of_two();
  s.result[1][0] = 0;
  expect_refused(s, "result of rank 1, block 0: does not hold exactly the contributions of ranks 0 to 1");
}

TEST(Validate, RefusesAResultThatTheVerbDoesNotHave) {
  schedule s = exchange_of_two();
  s.verb = verb::reduce;
  s.root = 0;
  expect_refused(s, "result of rank 1, block 0: there must be none");
  s.result[1][0] = no_slot;
  EXPECT_NO_THROW(validate(s));
  s.root = 2;
  expect_refused(s, "reduce needs a root below 2");
}

TEST(Validate, AnInputExistsOnlyAtTheBroadcastsRoot) {
  schedule s = written(2, {{{to(0, 1), {{1, 0}}}}}, {1, 0});
  s.verb = verb::broadcast;
  s.root = 1;
  EXPECT_NO_THROW(validate(s));
  s.root = 0;
  expect_refused(s, "reads slot 0 of rank 1 before it is written");
}

TEST(Validate, RefusesMalformedShapes) {
  schedule s = exchange_of_two();
  s.blocks = {{0, {1, 2}}};
  expect_refused(s, "the blocks end at 1/2");
  s = exchange_of_two();
  s.steps[0][0].rank = 2;
  expect_refused(s, "no such rank or block");
  s = exchange_of_two();
  s.sources[1].rank = 7;
  expect_refused(s, "there is no such rank");
  s = exchange_of_two();
  s.steps[0][0].first = 9;
  expect_refused(s, "has no sources");
  s = exchange_of_two();
  s.steps[0][0].slot = 1000000;
  expect_refused(s, "slots are small dense numbers");
  s.ranks = 0;
  expect_refused(s, "at least one rank");
}

TEST(Fraction, IsExactBeyondSixtyFourBitsOfIntermediates) {
  std::int64_t const large = std::int64_t{1} << 40;
  EXPECT_EQ(fraction(large - 1, large) + fraction(1, large), fraction(1));
  EXPECT_LT(fraction(large - 2, large - 1), fraction(large - 1, large));
  EXPECT_EQ(fraction(2, -4).text(), "-1/2");
  EXPECT_THROW(fraction(1, large) * fraction(1, large), schedule_error);
  EXPECT_THROW(fraction(1, 0), schedule_error);
}

TEST(Algorithm, TextAndParametersAreInverse) {
  for (std::string const text : {"ring", "capped(cap=3)", "product(dims=4x3,saved_steps=1)"})
    EXPECT_EQ(algorithm::parse(text).text(), text);
  algorithm const product = algorithm::parse("product(saved_steps=1,dims=4x3)");
  EXPECT_EQ(product.number("saved_steps"), 1u);
  EXPECT_EQ(product.numbers("dims"), (std::vector<std::uint32_t>{4, 3}));
  EXPECT_THROW(product.number("dims"), schedule_error);
}

TEST(Algorithm, UnreadableTextIsRefused) {
  for (std::string const text : {"", "Ring", "ring(", "ring(cap)", "ring(cap=)", "ring(cap=1,cap=2)", "ring)"})
    EXPECT_THROW(algorithm::parse(text), schedule_error) << text;
}

TEST(Validate, RefusesTotalsThatCouldOverflow) {
  schedule s = exchange_of_two();
  std::int64_t const fine = std::int64_t{1} << 40;
  s.blocks = {{0, {1, fine}}, {{1, fine}, {fine - 1, fine}}};
  for (auto& row : s.result) row = {1, 1};
  s.sources.resize(std::size_t{1} << 23, {0, 0});
  s.steps[0][0].count = static_cast<std::uint32_t>(s.sources.size());
  expect_refused(s, "the volumes of so many sources do not fit into 64 bits in units of 1/1099511627776");
}

/// Every other rank, then every other of twice as many.
TEST(Validate, RefusesMoreRanksThanItHasRoomFor) {
  schedule s;
  s.ranks = 1 << 14;
  s.blocks = {{0, 1}};
  s.steps.resize(12);
  for (std::uint32_t i = 0; i < s.steps.size(); ++i)
    for (rank_t r = 0; r < s.ranks; ++r) {
      s.steps[i].push_back({r, 0, i + 1, static_cast<std::uint32_t>(s.sources.size()), 2});
      s.sources.push_back({r, i});
      s.sources.push_back({(r + (rank_t{2} << i)) % s.ranks, i});
    }
  s.result.assign(s.ranks, {12});
  expect_refused(s, "16384 ranks take more than 4 GiB, or are no runs of ranks: too many to follow");
}

TEST(Validate, FollowsAMillionRanksAsRuns) {
  schedule s;
  s.ranks = 1'000'000;
  s.blocks = {{0, 1}};
  s.result.assign(s.ranks, {0});
  expect_refused(s, "result of rank 0, block 0: does not hold exactly the contributions of ranks 0 to 999999");
}

}  // namespace
}  // namespace coset::schedule
