// SPDX-License-Identifier: Apache-2.0
// Loops of updates by a team: at the edges of what can be asked for.
#include <gmock/gmock.h>

#include <array>
#include <initializer_list>
#include <limits>
#include <utility>

#include "updates/interfaces.hpp"

namespace coset::updates_test {
namespace {

TEST(Updates, ByATeamEqualThePlainLoop) {
  for (rank_t const threads : {1u, 3u}) {
    team all({.ranks = threads, .place = placement::unbound});
    expect_interface([&](auto&& target, auto const& keys, auto const& values, auto const& op,
                         scatter_options const& options) { scatter_add(all, target, keys, values, op, options); });
  }
}

TEST(Updates, ByMoreThreadsThanUpdates) {
  team all({.ranks = 16, .place = placement::unbound});
  updates<double> const loop(100, 7);
  expect_plain_loop(loop, plus(), whole(), [&](auto&& target, auto const& op, scatter_options const& options) {
    scatter_add(all, target, loop.keys, loop.values, op, options);
  });
}

/// Red if a batch ends in the middle of what a thread has, or begins anew with what the one before had.
TEST(Updates, InManyBatchesKeepTheirOrder) {
  team all({.ranks = 3, .place = placement::unbound});
  updates<double> const loop(300'000, 200'000);
  for (std::size_t const most_bytes : {std::size_t{1}, std::size_t{1} << 18, std::size_t{1} << 20}) {
    auto got = loop.start;
    scatter_add(all, got, loop.keys, loop.values, plus(), {.by = way::partition, .most_bytes = most_bytes});
    EXPECT_EQ(first_difference(got, loop.by_plain_loop(plus()), true), got.size()) << most_bytes << " bytes";
  }
}

TEST(Updates, OfNoElementsAreNone) {
  team all({.ranks = 2, .place = placement::unbound});
  std::vector<double> empty;
  std::vector<int> const no_keys;
  for (way const by : every_way) scatter_add(all, empty, no_keys, one_each, plus(), {.by = by});
  EXPECT_TRUE(empty.empty());
}

/// Every way that the operation has, and bits of it where they are asked for.
template <class T, class Op>
void expect_untouched(T untouched, std::initializer_list<T> brought, Op const& op) {
  team all({.ranks = 3, .place = placement::unbound});
  constexpr std::size_t length = 64, updates = 200'000;
  std::vector<T> const start(length, untouched);
  std::vector<std::uint32_t> keys(updates);
  std::vector<T> values(updates);
  for (std::size_t i = 0; i < updates; ++i) {
    keys[i] = static_cast<std::uint32_t>(i * 7 % (length / 2));
    values[i] = brought.begin()[i % brought.size()];
  }
  std::vector<T> expected = start;
  for (std::size_t i = 0; i < updates; ++i) expected[keys[i]] = static_cast<T>(op(expected[keys[i]], values[i]));
  for (way const by : every_way)
    for (bits const required : {bits::same_on_all_ranks, bits::serial}) {
      std::vector<T> got = start;
      try {
        scatter_add(all, got, keys, values, op, {.by = by, .required = required});
      } catch (argument_error const&) {
        EXPECT_GE(by, way::private_copies);
      }
      for (std::size_t k = length / 2; k < length; ++k)
        EXPECT_TRUE(same_bits(got[k], untouched) ||
                    (required != bits::serial && (got[k] == untouched || got[k] != got[k])))
            << k << " of " << by;
      bool const was_refused = first_difference(got, start, true) == length;
      if (required == bits::serial && !was_refused) {
        EXPECT_EQ(first_difference(got, expected, true), length) << by;
      }
    }
}

TEST(Updates, LeaveWhatTheyDoNotMeet) {
  expect_untouched<int>(5, {0, 3}, logical_or());
  expect_untouched<int>(5, {1, 3}, logical_and());
  expect_untouched<double>(5, {0, 3}, logical_xor());
  expect_untouched<double>(-std::numeric_limits<double>::quiet_NaN(), {1, 2}, minimum());
  expect_untouched<float>(-0.0f, {1, 2}, plus());
}

TEST(Updates, RoundOneByOneWhereSerialBitsAreAskedFor) {
  expect_untouched<double>(0.1, {1e-9, 0.3, 1e9}, reproducible_plus());
}

struct point {
  double x = 0, y = 0;
  point() = default;
  point(std::pair<double, double> const& of) : x(of.first), y(of.second) {}
  friend point operator+(point a, point const& b) {
    a.x += b.x;
    a.y += b.y;
    return a;
  }
};

TEST(Updates, OfOneArrayMayBringPairs) {
  team all({.ranks = 2, .place = placement::unbound});
  std::vector<point> points(10);
  std::vector<int> const keys(5'000, 3);
  std::vector<std::pair<double, double>> const values(5'000, {1, 2});
  scatter_add(all, points, keys, values, [](point const& a, point const& b) { return a + b; });
  EXPECT_EQ(points[3].x, 5'000);
  EXPECT_EQ(points[3].y, 10'000);
}

TEST(Updates, OfOneVariableAreCounted) {
  team all({.ranks = 2, .place = placement::unbound});
  std::vector<std::uint8_t> const keys(10'000);
  for (way const by : every_way) {
    std::int64_t count = 5;
    scatter_add(all, count, keys, one_each, plus(), {.by = by});
    EXPECT_EQ(count, 10'005) << by;
  }
}

/// Red if a way writes whole lines where the array has only a part of one.
TEST(Updates, TouchNothingBesideAnArrayThatBeginsAnywhere) {
  team all({.ranks = 3, .place = placement::unbound});
  updates<float> const loop(10'007, 30'000);
  auto const expected = loop.by_plain_loop(plus());
  for (way const by : every_way)
    for (std::size_t const before : {1u, 3u, 15u}) {
      std::vector<float> around(loop.start.size() + before + 20, -7);
      auto const at = around.begin() + static_cast<std::ptrdiff_t>(before);
      std::copy(loop.start.begin(), loop.start.end(), at);
      scatter_add(all, std::span(around).subspan(before, loop.start.size()), loop.keys, loop.values, plus(),
                  {.by = by});
      std::vector<float> const got(at, at + static_cast<std::ptrdiff_t>(expected.size()));
      EXPECT_EQ(first_difference(got, expected, is_serial(by)), got.size()) << by;
      EXPECT_EQ(std::count(around.begin(), around.end(), -7), before + 20) << by;
    }
}

/// The same program, the same data, as many threads: the same bits, on each run.
TEST(Updates, HaveTheSameBitsOnEachRun) {
  team all({.ranks = 4, .place = placement::unbound});
  updates<float> const loop(2000, 50'000);
  for (way const by : {way::chosen, way::private_copies}) {
    auto first = loop.start;
    scatter_add(all, first, loop.keys, loop.values, plus(), {.by = by});
    for (int run = 0; run < 5; ++run) {
      auto again = loop.start;
      scatter_add(all, again, loop.keys, loop.values, plus(), {.by = by});
      ASSERT_EQ(first_difference(again, first, true), first.size()) << by;
    }
  }
}

/// Many elements that few threads share.
TEST(Updates, OfALargeTargetHaveManyParts) {
  team all({.ranks = 2, .place = placement::unbound});
  std::size_t const length = test::by_effort<std::size_t>(1 << 21, 1 << 22, std::size_t{1} << 26);
  updates<double> const loop(length, 100'000);
  auto const expected = loop.by_plain_loop(plus());
  for (way const by : {way::owner_scan, way::partition, way::chosen}) {
    auto got = loop.start;
    scatter_add(all, got, loop.keys, loop.values, plus(), {.by = by, .required = bits::serial});
    EXPECT_EQ(first_difference(got, expected, true), length) << by;
  }
}

}  // namespace
}  // namespace coset::updates_test
