// SPDX-License-Identifier: Apache-2.0
// Order statistics, paired ratios and their verdicts.
#include "command/measure/harness/statistics.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "coset/error.hpp"

namespace coset::measure {
namespace {

/// Times around `center` with a few percent of noise that both contestants of a round share, as on a real machine.
std::vector<double> noisy(double center, double own_noise, unsigned seed) {
  std::mt19937 shared(1), own(seed);
  std::uniform_real_distribution<double> drift(0.5, 2), jitter(1 - own_noise, 1 + own_noise);
  std::vector<double> times(25);
  for (double& t : times) t = center * drift(shared) * jitter(own);
  return times;
}

TEST(Statistics, MedianOfAnEvenNumberIsTheMeanOfTheMiddleTwo) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median({7}), 7);
}

TEST(Statistics, QuantileIsTheNearestRank) {
  std::vector<double> hundred(100);
  std::iota(hundred.begin(), hundred.end(), 1);
  EXPECT_EQ(quantile(hundred, 0.99), 99);
  EXPECT_EQ(quantile(hundred, 1.0), 100);
  EXPECT_EQ(quantile(hundred, 0.0), 1);
  EXPECT_EQ(quantile({5}, 0.99), 5);
}

TEST(Statistics, SpreadNamesMinimumMedianAndP99) {
  std::vector<double> samples(200, 2.0);
  samples[0] = 1;
  samples[1] = 90;
  samples[2] = 80;
  samples[3] = 70;
  auto const found = spread_of(samples);
  EXPECT_EQ(found.minimum, 1);
  EXPECT_EQ(found.median, 2);
  EXPECT_EQ(found.p99, 70);
  EXPECT_EQ(found.samples, 200u);
  EXPECT_THROW(spread_of({}), argument_error);
}

TEST(Comparison, AdvantageSaysHowManyTimesFasterOursIs) {
  auto const found = advantage_of({.ratio = 0.5, .low = 0.4, .high = 0.8});
  EXPECT_DOUBLE_EQ(found.median, 2);
  EXPECT_DOUBLE_EQ(found.low, 1.25);
  EXPECT_DOUBLE_EQ(found.high, 2.5);
}

TEST(Comparison, PairingRemovesWhatRoundsHaveInCommon) {
  auto const found = compare(noisy(100, 0.01, 2), noisy(200, 0.01, 3));
  EXPECT_NEAR(found.ratio, 0.5, 0.01);
  EXPECT_LE(found.low, found.ratio);
  EXPECT_GE(found.high, found.ratio);
  EXPECT_LT(found.high - found.low, 0.02);
  EXPECT_EQ(found.verdict, verdict::faster);
}

TEST(Comparison, SlowerOnlyIfTheWholeIntervalIsAboveTheTolerance) {
  EXPECT_EQ(compare(noisy(120, 0.01, 2), noisy(100, 0.01, 3)).verdict, verdict::slower);
  EXPECT_EQ(compare(noisy(103, 0.001, 2), noisy(100, 0.001, 3)).verdict, verdict::level);
  EXPECT_EQ(compare(noisy(100, 0.01, 2), noisy(100, 0.01, 3)).verdict, verdict::level);
}

TEST(Comparison, UndecidedIfTheIntervalStraddlesTheTolerance) {
  auto const found = compare(noisy(105, 0.3, 2), noisy(100, 0.3, 3));
  EXPECT_LT(found.low, tolerance);
  EXPECT_GT(found.high, tolerance);
  EXPECT_EQ(found.verdict, verdict::undecided);
}

TEST(Comparison, UndecidedWithFewerRoundsThanAnIntervalNeeds) {
  std::vector<double> const ours(fewest_rounds - 1, 1), theirs(fewest_rounds - 1, 100);
  EXPECT_EQ(compare(ours, theirs).verdict, verdict::undecided);
  std::vector<double> const more_ours(fewest_rounds, 1), more_theirs(fewest_rounds, 100);
  EXPECT_EQ(compare(more_ours, more_theirs).verdict, verdict::faster);
}

TEST(Comparison, TheSameRoundsGiveTheSameInterval) {
  auto const once = compare(noisy(100, 0.2, 2), noisy(110, 0.2, 3));
  auto const again = compare(noisy(100, 0.2, 2), noisy(110, 0.2, 3));
  EXPECT_EQ(once.low, again.low);
  EXPECT_EQ(once.high, again.high);
}

TEST(Comparison, RefusesRoundsThatCannotBePaired) {
  std::vector<double> const three(3, 1), four(4, 1);
  EXPECT_THROW(compare(three, four), argument_error);
  EXPECT_THROW(compare({}, {}), argument_error);
}

}  // namespace
}  // namespace coset::measure
