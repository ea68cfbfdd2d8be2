// SPDX-License-Identifier: Apache-2.0
// What is told of a loop by a sample of its keys.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <vector>

#include "coset/updates/choice.hpp"

namespace coset {
namespace {

using detail::key_sample;

constexpr std::size_t length = 1 << 20, updates = 1 << 21;
constexpr unsigned line = 3;
constexpr auto lines = static_cast<double>(length >> line);

/// Keys from numbers that lie anywhere in [0, 1).
template <class Key>
std::vector<std::size_t> keys_by(Key const& key) {
  std::mt19937_64 random;
  std::uniform_real_distribution<double> anywhere;
  std::vector<std::size_t> all(updates);
  for (std::size_t& each : all) each = std::min(static_cast<std::size_t>(key(anywhere(random))), length - 1);
  return all;
}
std::vector<std::size_t> uniform() {
  return keys_by([](double at) { return at * length; });
}

key_sample sample_of(std::vector<std::size_t> const& keys) {
  key_sample found;
  std::size_t const stride = key_sample::stride_of(keys.size());
  for (std::size_t k = stride / 2; k < keys.size(); k += stride) found.add(keys[k]);
  found.sort();
  return found;
}

double lines_of(std::vector<std::size_t> const& keys) {
  std::set<std::size_t> all;
  for (std::size_t const key : keys) all.insert(key >> line);
  return static_cast<double>(all.size());
}

TEST(KeySample, KnowsHowMuchAWindowTouches) {
  auto const keys = keys_by([](double at) { return length / 3 + at * length / 100; });
  auto const found = sample_of(keys).touched(line, lines, updates);
  EXPECT_NEAR(found.all / lines_of(keys), 1, 0.3);
  EXPECT_EQ(found.hot_share, 1);
}

TEST(KeySample, TakesAllForTouchedWhereNoKeyComesTwice) {
  auto const found = sample_of(uniform()).touched(line, lines, updates);
  EXPECT_NEAR(found.all / lines, 1, 0.1);
}

TEST(KeySample, SeesALongTailBehindPopularElements) {
  auto const zipf = keys_by([](double at) { return std::pow(length, at) - 1; });
  auto const found = sample_of(zipf).touched(line, lines, updates);
  EXPECT_GT(found.all, lines_of(zipf) / 2);
  EXPECT_LE(found.all, lines);
  EXPECT_LT(found.hot, lines / 100);
  EXPECT_GT(found.hot_share, 0.3);
  EXPECT_LT(found.hot_share, 0.6);
}

TEST(KeySample, TellsOrderedKeysFromOthers) {
  auto keys = uniform();
  EXPECT_GT(sample_of(keys).at_a_time(), 0.9);
  std::partition(keys.begin(), keys.end(), [](std::size_t key) { return key < length / 2; });
  EXPECT_NEAR(sample_of(keys).at_a_time(), 0.5, 0.1);
  std::ranges::sort(keys);
  EXPECT_LT(sample_of(keys).at_a_time(), 0.02);
  std::ranges::reverse(keys);
  EXPECT_LT(sample_of(keys).at_a_time(), 0.02);
}

TEST(KeySample, TakesOneElementForOne) {
  auto const found = sample_of(std::vector<std::size_t>(updates, 7)).touched(line, lines, updates);
  EXPECT_NEAR(found.all, 1, 0.1);
  EXPECT_EQ(key_sample().at_a_time(), 1);
}

}  // namespace
}  // namespace coset
