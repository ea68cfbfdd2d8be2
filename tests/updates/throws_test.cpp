// SPDX-License-Identifier: Apache-2.0
// What keys, values and operations of a loop of updates throw.
#include <atomic>
#include <stdexcept>

#include "updates/loops.hpp"

namespace coset::updates_test {
namespace {

/// Red if threads stay at a barrier that one of them has left, or if what was thrown first is lost.
TEST(UpdatesThrow, WhatKeysAndValuesThrow) {
  team three({.ranks = 3, .place = placement::unbound});
  std::vector<double> array(1000);
  for (way const by : every_way)
    for (std::size_t const at : {0u, 1u, 4999u, 9999u}) {
      auto const key = [at](std::size_t i) { return i == at ? throw std::out_of_range("key") : i % 1000; };
      auto const value = [at](std::size_t i) { return i == at ? throw std::domain_error("value") : 1.0; };
      auto const right = [](std::size_t i) { return i % 1000; };
      EXPECT_THROW(scatter_add(three, array, 10'000, key, one_each, plus(), {.by = by}), std::out_of_range) << by;
      EXPECT_THROW(scatter_add(three, array, 10'000, right, value, plus(), {.by = by}), std::domain_error) << by;
      std::fill(array.begin(), array.end(), 0.0);
      scatter_add(three, array, 10'000, right, one_each, plus(), {.by = by});
      EXPECT_EQ(array, std::vector<double>(1000, 10)) << by;
    }
}

/// Each thread throws something else: one of them arrives.
TEST(UpdatesThrow, OneOfMany) {
  team three({.ranks = 3, .place = placement::unbound});
  std::vector<double> array(1000);
  for (way const by : every_way) try {
      scatter_add(
          three, array, 10'000, [](std::size_t i) { return i % 1000; },
          [](std::size_t i) -> double { throw static_cast<int>(i); }, plus(), {.by = by});
      ADD_FAILURE() << by << ": nothing was thrown";
    } catch (int thrown) {
      EXPECT_TRUE(0 <= thrown && thrown < 10'000) << by;
    }
}

/// In the second of several batches, whose first has been applied.
TEST(UpdatesThrow, InALaterBatch) {
  team two({.ranks = 2, .place = placement::unbound});
  std::vector<double> array(100'000);
  auto const key = [](std::size_t i) { return i % 100'000; };
  EXPECT_THROW(scatter_add(two, array, 1'000'000, key, [](std::size_t i) { return i == 900'000 ? throw 7 : 1.0; },
                           plus(), {.by = way::partition, .most_bytes = 1 << 20}),
               int);
}

/// Where copies are folded it is not the loop that throws.
TEST(UpdatesThrow, WhatTheOperationThrowsOnFolding) {
  team two({.ranks = 2, .place = placement::unbound});
  std::vector<int> array(100, 1000);
  std::vector<int> const keys(10'000, 50);
  auto const op = [](int a, int b) { return a >= 1000 && b >= 1000 ? throw std::overflow_error("fold") : a + b; };
  EXPECT_THROW(scatter_add(two, into(array, op, 0), keys, one_each, plus(), {.by = way::private_copies}),
               std::overflow_error);
}

}  // namespace
}  // namespace coset::updates_test
