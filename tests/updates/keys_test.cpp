// SPDX-License-Identifier: Apache-2.0
// Keys, values and targets of all kinds.
#include <array>

#include "updates/view.hpp"

namespace coset::updates_test {
namespace {

class Keys : public ::testing::Test {
 protected:
  static constexpr std::size_t count = 9000, length = 100;
  static int key(std::size_t i) { return static_cast<int>(i * 37 % length); }

  template <class Key>
  void expect_keys_of() {
    std::vector<Key> keys;
    for (std::size_t i = 0; i < count; ++i) keys.push_back(static_cast<Key>(key(i)));
    for (way const by : every_way) {
      std::vector<int> counts(length);
      scatter_add(two_, counts, keys, one_each, plus(), {.by = by});
      EXPECT_EQ(counts, std::vector<int>(length, count / length)) << by << ", keys of " << sizeof(Key) << " bytes";
    }
  }

  template <class... Key>
  void expect_keys(::testing::Types<Key...>) {
    (expect_keys_of<Key>(), ...);
  }

  team two_{{.ranks = 2, .place = placement::unbound}};
};

TEST_F(Keys, AreIntegersOfAnyType) {
  expect_keys(test::types<::testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, int, unsigned,
                                           std::int64_t, std::size_t>,
                          ::testing::Types<std::int8_t, std::uint16_t, int, std::size_t>>());
}

TEST_F(Keys, MayBeFunctionsOfTheIteration) {
  for (way const by : every_way) {
    std::vector<std::int64_t> sums(length), expected(length);
    scatter_add(two_, sums, count, key, [](std::size_t i) { return i; }, plus(), {.by = by});
    for (std::size_t i = 0; i < count; ++i) expected[static_cast<std::size_t>(key(i))] += static_cast<std::int64_t>(i);
    EXPECT_EQ(sums, expected) << by;
    scatter_add(two_, sums, 0, key, one_each, plus(), {.by = by});
    EXPECT_EQ(sums, expected) << by;
  }
}

TEST_F(Keys, MayBeAFunctionWhereValuesAreAnArrayAndTheOtherWayRound) {
  std::vector<float> const halves(count, 0.5f);
  std::array<int, 4> const few{1, 3, 1, 0};
  std::vector<double> sums(length);
  scatter_add(two_, sums, key, halves);
  EXPECT_EQ(sums, std::vector<double>(length, count / length * 0.5));
  scatter_add(two_, sums, few, [](std::size_t i) { return 100.0 * static_cast<double>(i); });
  EXPECT_EQ(sums[1], 45 + 200);
  EXPECT_EQ(sums[3], 45 + 100);
  EXPECT_EQ(sums[0], 45 + 300);
}

/// 3 keys: 5, 2, 5.
TEST_F(Keys, WithoutValuesCount) {
  std::vector<int> counts(6);
  scatter_add(two_, counts, std::array{5, 2, 5});
  EXPECT_EQ(counts, (std::vector{0, 0, 1, 0, 0, 2}));
}

TEST_F(Keys, FindTheElementsOfSeveralArraysAtOnce) {
  for (way const by : every_way) {
    std::vector<double> sums(length);
    std::vector<float> maxima(length, -1);
    std::vector<std::int64_t> counts(length);
    scatter_add(two_, std::tuple(into(sums), into(maxima, maximum()), into(counts)), count, key,
                [](std::size_t i) { return std::tuple(0.5, static_cast<float>(i), 2); }, plus(), {.by = by});
    for (std::size_t k = 0; k < length; ++k) {
      ASSERT_EQ(sums[k], 45) << by;
      ASSERT_EQ(counts[k], 180) << by;
    }
    EXPECT_EQ(maxima[static_cast<std::size_t>(key(count - 1))], count - 1) << by;
  }
  std::vector<int> a(3), b(3);
  scatter_add(two_, std::tie(a, b), std::array{0, 2}, std::array{std::array{1, 2}, std::array{3, 4}});
  EXPECT_EQ(a, (std::vector{1, 0, 3}));
  EXPECT_EQ(b, (std::vector{2, 0, 4}));
}

TEST_F(Keys, MayBeIndicesOfAView) {
  std::vector<float> cells(6 * 8), others(6 * 8);
  columns const field(cells.data(), {6, 8}), other(others.data(), {6, 8});
  std::vector<std::array<int, 2>> const places{{2, 3}, {5, 7}, {2, 3}};
  for (way const by : every_way) {
    std::fill(cells.begin(), cells.end(), 0.f);
    scatter_add(two_, field, places, std::array{1.f, 2.f, 4.f}, plus(), {.by = by});
    EXPECT_EQ(field(2, 3), 5) << by;
    EXPECT_EQ(field(5, 7), 2) << by;
    EXPECT_EQ(std::count(cells.begin(), cells.end(), 0.f), 46) << by;
  }
  scatter_add(two_, std::tuple(field, other), places, [](std::size_t) { return std::tuple(1, 10); });
  EXPECT_EQ(field(2, 3), 7);
  EXPECT_EQ(other(5, 7), 10);
  scatter_add(
      two_, into(field, maximum()), 2, [](std::size_t i) { return std::tuple(i, 7u); }, [](std::size_t) { return 99; });
  EXPECT_EQ(field(1, 7), 99);
  // An integer is the place in the view's memory.
  scatter_add(two_, field, std::array{3 * 6 + 2});
  EXPECT_EQ(field(2, 3), 8);
}

TEST_F(Keys, OfViewsOfOtherExtentsAreRefused) {
  std::vector<float> cells(6 * 8), others(6 * 8);
  columns const field(cells.data(), {6, 8}), other(others.data(), {8, 6});
  std::vector<std::array<int, 2>> const places{{2, 3}};
  EXPECT_THROW(scatter_add(two_, std::tuple(field, other), places), argument_error);
}

}  // namespace
}  // namespace coset::updates_test
