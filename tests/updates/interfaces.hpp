// SPDX-License-Identifier: Apache-2.0
// What each interface has to do in each way. An interface is scatter(target, keys, values, operation, options).
#pragma once

#include <tuple>
#include <utility>

#include "updates/loops.hpp"

namespace coset::updates_test {

/// Lengths and numbers of updates. With the first there is nothing to do; the last has more parts than threads, but under
/// sanitizers, for which the plain loop takes long.
inline constexpr std::pair<std::size_t, std::size_t> shapes[] = {
    {100, 0}, {1, 300}, {9, 2000}, {1000, 1}, {test::is_sanitized ? 1u << 13 : 1u << 18, 20'000}};

template <class Scatter>
void expect_every_way(Scatter const& scatter) {
  for (auto const& [length, count] : shapes) {
    updates<double> const sums(length, count);
    expect_plain_loop(sums, plus(), whole(), [&](auto&& target, auto const& op, scatter_options const& options) {
      scatter(target, sums.keys, sums.values, op, options);
    });
    updates<std::int32_t> const maxima(length, count);
    expect_plain_loop(maxima, maximum(), whole(), [&](auto&& target, auto const& op, scatter_options const& options) {
      scatter(target, maxima.keys, maxima.values, op, options);
    });
    updates<trail> const trails(length, count);
    expect_plain_loop(trails, noncommutative(follow()), whole(),
                      [&](auto&& target, auto const& op, scatter_options const& options) {
                        scatter(target, trails.keys, trails.values, op, options);
                      });
  }
}

/// Two arrays that are updated at one index, by different operations.
template <class Scatter>
void expect_joint_updates(Scatter const& scatter) {
  updates<double> const first(5000, 20'000);
  updates<std::int32_t> const second(5000, 20'000);
  std::vector<std::tuple<double, std::int32_t>> values;
  for (std::size_t i = 0; i < first.keys.size(); ++i) values.emplace_back(first.values[i], second.values[i]);
  auto expected = second.start;
  for (std::size_t i = 0; i < first.keys.size(); ++i)
    expected[first.keys[i]] = std::max(expected[first.keys[i]], second.values[i]);
  for (way const by : every_way) {
    auto sums = first.start;
    auto maxima = second.start;
    scatter(std::tuple(into(sums), into(maxima, maximum())), first.keys, values, plus(), scatter_options{.by = by});
    EXPECT_EQ(first_difference(sums, first.by_plain_loop(plus()), is_serial(by)), sums.size()) << by;
    EXPECT_EQ(maxima, expected) << by;
  }
}

struct thrown_at {
  std::size_t update;
};

/// What an operation throws arrives; the next call works.
template <class Scatter>
void expect_exceptions(Scatter const& scatter) {
  updates<std::int64_t> const loop(1000, 10'000);
  std::int64_t const worst = loop.values[7321];
  auto const throwing = [worst](std::int64_t a, std::int64_t b) -> std::int64_t {
    if (b == worst) throw std::domain_error("7321");
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  };
  for (way const by : every_way) {
    auto got = loop.start;
    EXPECT_THROW(
        scatter(into(got, throwing, std::int64_t{0}), loop.keys, loop.values, plus(), scatter_options{.by = by}),
        std::domain_error)
        << by;
    got = loop.start;
    scatter(got, loop.keys, loop.values, plus(), scatter_options{.by = by});
    EXPECT_EQ(got, loop.by_plain_loop(plus())) << by;
  }
}

/// Arguments that contradict each other.
template <class Scatter>
void expect_refusals(Scatter const& scatter) {
  std::vector<double> array(10), longer(11);
  std::vector<int> const keys(5);
  std::vector<double> const values(6);
  std::vector<std::tuple<double, double>> const pairs(5);
  EXPECT_THROW(scatter(array, keys, values, plus(), scatter_options()), argument_error);
  EXPECT_THROW(scatter(std::tie(array, longer), keys, pairs, plus(), scatter_options()), argument_error);
  using function = double (*)(double, double);
  EXPECT_THROW(scatter(array, keys, std::vector<double>(5), function(nullptr), scatter_options()), argument_error);
}

template <class Scatter>
void expect_interface(Scatter const& scatter) {
  expect_every_way(scatter);
  expect_joint_updates(scatter);
  expect_exceptions(scatter);
  expect_refusals(scatter);
}

}  // namespace coset::updates_test
