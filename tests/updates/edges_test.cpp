// SPDX-License-Identifier: Apache-2.0
// Loops of updates by a team: at the edges of what can be asked for.
#include <gmock/gmock.h>

#include <array>

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
