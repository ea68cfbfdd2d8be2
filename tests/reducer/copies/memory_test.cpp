// SPDX-License-Identifier: Apache-2.0
// Reducers where memory is short: whoever is told so finds everything as it was, and may try again.
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <new>
#include <numeric>
#include <thread>
#include <vector>

#include "coset/reducers/sparse_reducer.hpp"
#include "support/counted_new.hpp"

namespace coset::reducer_test {
namespace {

/// Each allocation of step() fails in turn, which is then tried again. At most so many.
template <class Step>
void step_with_failures(Step step) {
  for (std::size_t after = 0; after < 100; ++after) {
    test::fail_allocation(after);
    try {
      step();
      if (!test::allocation_failed()) return;
    } catch (std::bad_alloc const&) {
      EXPECT_TRUE(test::allocation_failed());
    }
    step();
  }
  FAIL() << "allocates for ever";
}

/// The first allocation but `after` fails, of all that a thread has ever done with the reducer.
template <class Reducer>
void check_all_steps(std::size_t after, Reducer sum, bool views_first, bool& failed) {
  int expected = 0;
  auto const tried = [&](auto step) {
    try {
      step();
    } catch (std::bad_alloc const&) {
      failed = true;
      step();
    }
  };
  std::jthread([&] {  // that has no memory of its own yet
    test::fail_allocation(after);
    if (views_first) tried([&] { EXPECT_EQ(sum.view()[7], 0); });
    tried([&] { sum.local()[7] += 1; });
    expected += 1;
    for (std::uint32_t const number : {0u, 2u, 1u, 5u}) {
      tried([&] { sum.local(number)[7] += 1; });
      expected += 1;
    }
    tried([&] { EXPECT_EQ(sum.view()[7], expected); });
    tried([&] { sum.local(9)[7] += 1; });
    expected += 1;
    tried([&] { EXPECT_EQ(sum.view()[7], expected); });
    failed = test::allocation_failed() || failed;
  })
      .join();
  std::vector<int> got(sum.size());
  sum.combine_into(got);
  EXPECT_EQ(got[7], expected) << after;
  EXPECT_EQ(std::accumulate(got.begin(), got.end(), 0), expected);
  EXPECT_NE(sum.describe().find(": 6 private copies"), std::string::npos) << sum.describe();
}

TEST(ReducerMemory, MayRunOutAnywhereAndLosesNothing) {
  for (bool const is_sparse : {false, true})
    for (bool const views_first : {false, true})
      for (std::size_t after = 0;; ++after) {
        ASSERT_LT(after, 1000u) << "allocates for ever";
        bool failed = false;
        if (is_sparse) {
          check_all_steps(after, sparse_reducer<int>(1000, {.block_bytes = 64}), views_first, failed);
        } else {
          check_all_steps(after, reducer<int>(1000), views_first, failed);
        }
        if (!failed) break;
      }
}

/// Red if what was not made is taken for a copy.
TEST(ReducerMemory, ThatRanOutLeavesNoCopyBehind) {
  for (bool const by_number : {true, false}) {
    bool failed = true;
    for (std::size_t after = 0; failed; ++after) {
      reducer<int> sum(1000);
      std::jthread([&] {
        test::fail_allocation(after);
        try {
          by_number ? sum.local(3) : sum.local();
          failed = false;
        } catch (std::bad_alloc const&) {
          sum.local(1)[7] += 1;
        }
        test::allocation_failed();
      }).join();
      EXPECT_NE(sum.describe().find(": 1 private copies"), std::string::npos) << sum.describe();
      EXPECT_EQ(sum.view()[7], failed ? 1 : 0);
    }
  }
}

/// Copies that there is no memory to keep are given up, by who cannot be told.
TEST(ReducerMemory, MayRunOutWhenReducersDie) {
  std::size_t n = 50'000;
  for (std::size_t after = 0; after < 10; ++after) {
    auto sum = std::make_unique<reducer<int>>(n *= 2);  // of no size before
    for (std::uint32_t number = 0; number < 3; ++number) sum->local(number)[1] += 1;
    test::fail_allocation(after);
    sum.reset();
    if (!test::allocation_failed()) {
      EXPECT_GT(after, 0u);
      break;
    }
  }
}

/// Threads leave their copies as they end, when nobody can be told.
TEST(ReducerMemory, MayRunOutWhenThreadsEnd) {
  reducer<int> sum(10);
  for (int round = 1; round <= 3; ++round) {
    std::vector<std::jthread> all;
    for (int t = 0; t < 4; ++t)
      all.emplace_back([&] {
        sum.local()[3] += 1;
        test::fail_allocation(0);
      });
    all.clear();
    EXPECT_EQ(sum.view()[3], 4 * round);
  }
}

TEST(ReducerMemory, MayRunOutWhereManyCopiesAreFolded) {
  reducer<int> sum(100);
  for (std::uint32_t number = 0; number < 40; ++number) sum.local(number)[3] += 1;
  int folded = 0;
  step_with_failures([&] {
    std::vector<int> got(100);
    sum.combine_into(got);
    folded += got[3];
  });
  EXPECT_EQ(folded, 40);
}

/// A thread that makes reducers for ever keeps nothing of those that are gone.
TEST(ReducerMemory, OfThreadsDoesNotGrowWithReducersThatAreGone) {
  auto const make_many = [] {
    for (int k = 0; k < 300; ++k) {
      sparse_reducer<int> sum(10);
      sum.local()[3] += 1;
    }
  };
  make_many();
  std::size_t const before = test::live_bytes();
  make_many();
  EXPECT_LT(test::live_bytes(), before + 10'000);
}

}  // namespace
}  // namespace coset::reducer_test
