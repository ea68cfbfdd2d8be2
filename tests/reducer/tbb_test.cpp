// SPDX-License-Identifier: Apache-2.0
// Reductions of arrays in tasks of oneTBB.
#include "coset/tbb.hpp"

#include <oneapi/tbb/blocked_range.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>

#include "reducer/updates.hpp"

namespace coset::reducer_test {
namespace {

TEST(TbbReducer, EqualsALoopOverAllUpdates) {
  for (std::size_t const n : {1ul, 1000ul, 300'000ul})
    for (std::size_t const block_bytes : {0ul, 64ul}) {
      auto const updates = random_updates<int, plus>(n, 50'000, spread::dense, test::seed());
      std::vector<int> expected(n, 3), got(n, 3);
      auto const check = [&](auto sum) {
        for (int round = 0; round < 3; ++round) {
          apply(expected, updates, plus{});
          ::tbb::parallel_for(::tbb::blocked_range<std::size_t>(0, updates.size(), 100), [&](auto const& part) {
            auto const mine = sum.local();
            for (std::size_t u = part.begin(); u != part.end(); ++u) mine[updates[u].index] += updates[u].value;
          });
          sum.combine_into(got);
          ASSERT_EQ(got, expected) << n << " elements, round " << round;
        }
      };
      if (block_bytes == 0) check(tbb::reducer<int>(n));
      check(tbb::sparse_reducer<int>(n, sparse_options{.block_bytes = block_bytes}));
    }
}

TEST(TbbReduction, OfManyThingsIsCombinedAtOnce) {
  for (std::size_t const n : {1ul, 1000ul, 300'000ul}) {
    std::vector<double> charge(n, 1);
    std::vector<int> kinds(7);
    double energy = 0;
    int largest = 0;
    tbb::reduction sums(charge, kinds, energy, into(largest, maximum{}));
    for (int round = 1; round <= 3; ++round) {
      ::tbb::parallel_for(0, 10'000, [&](int i) {
        auto [q, k, e, top] = sums.local();
        q[static_cast<std::size_t>(i) % n] += 1;
        k[static_cast<std::size_t>(i % 7)] += 1;
        e += 0.25;
        top = std::max(top, i * round);
      });
      sums.combine();
      ASSERT_EQ(std::accumulate(charge.begin(), charge.end(), 0.0), static_cast<double>(n) + 10'000 * round);
      ASSERT_EQ(std::accumulate(kinds.begin(), kinds.end(), 0), 10'000 * round);
      ASSERT_EQ(energy, 2500 * round);
      ASSERT_EQ(largest, 9'999 * round);
    }
  }
}

/// The habit of OpenMP, where every thread combines. Red if one task's fold empties what another folds.
TEST(TbbReduction, CombinedByTwoTasksAtOnceIsAnError) {
  std::atomic<bool> inside = false, goes_on = false;
  auto const slow_sum = [&](int a, int b) {
    inside = true;
    while (!goes_on) std::this_thread::yield();
    return a + b;
  };
  for (std::size_t const n : {10u, 1'000'000u}) {
    inside = goes_on = false;
    std::vector<int> got(n);
    tbb::reduction sum(into(got, slow_sum, 0));
    sum.local()[n - 1] = sum.local()[0] = 5;
    std::thread first([&] { sum.combine(); });
    while (!inside) std::this_thread::yield();
    EXPECT_THROW(sum.combine(), argument_error);
    goes_on = true;
    first.join();
    EXPECT_EQ(got[0], 5);
    EXPECT_EQ(got[n - 1], 5);
    sum.combine();
  }
}

TEST(TbbReducer, ViewsGrowUntilReset) {
  tbb::reducer<int, maximum> largest(100'000);
  for (int round = 1; round <= 3; ++round) {
    ::tbb::parallel_for(0, 1000, [&](int i) {
      int& mine = largest.local()[static_cast<std::size_t>(i % 10)];
      mine = std::max(mine, i * round);
    });
    EXPECT_EQ(largest.view()[9], 999 * round);
  }
  largest.reset();
  EXPECT_EQ(largest.view()[9], std::numeric_limits<int>::lowest());
}

TEST(TbbReducer, RefusesArraysOfAnotherLength) {
  tbb::reducer<int> sum(10);
  std::vector<int> wrong(9);
  EXPECT_THROW(sum.combine_into(wrong), argument_error);
}

}  // namespace
}  // namespace coset::reducer_test
