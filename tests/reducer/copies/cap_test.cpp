// SPDX-License-Identifier: Apache-2.0
// What a cap on the memory of private copies allows, counted to the page.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "coset/reducers/sparse_reducer.hpp"
#include "numa/memory.hpp"
#include "reducer/copies/erased.hpp"
#include "reducer/updates.hpp"

namespace coset::reducer_test {
namespace {

/// What each thread is granted whatever the cap.
constexpr std::size_t granted_bytes = std::size_t{64} << 10;

std::size_t ints_of_page() { return numa::page_bytes() / sizeof(int); }

int early_folds(sparse_reducer<int> const& of) {
  std::string const text = of.describe(), before = "folded early ";
  return std::stoi(text.substr(text.find(before) + before.size()));
}

/// Adds one in each of these pages.
void touch_pages(sparse_array<int> const& mine, std::size_t begin, std::size_t end) {
  for (std::size_t k = begin; k < end; ++k) mine[k * ints_of_page()] += 1;
}

int sum_of(sparse_reducer<int>& all) {
  auto const view = all.view();
  return std::accumulate(view.begin(), view.end(), 0);
}

/// What is combined leaves its pages with the thread; they are claimed as long as they are there.
TEST(ReducerCap, CountsPagesOnceHoweverOftenTheyAreUsed) {
  std::size_t const pages = 2 * granted_bytes / numa::page_bytes();
  sparse_reducer<int> sum(pages * ints_of_page(), {.most_bytes = 1});
  auto const mine = sum.local();
  for (int& one : mine.span()) one += 1;  // more than is granted, but asked for at once
  int const folds = early_folds(sum);
  for (int round = 0; round < 3; ++round) {
    for (int& one : mine.span()) one += 1;
    std::vector<int> got(sum.size());
    sum.combine_into(got);
    EXPECT_EQ(got.back(), round == 0 ? 2 : 1);
  }
  EXPECT_EQ(early_folds(sum), folds);
}

/// Red if pages that are folded stay, or those that are given back and wanted again are not claimed again.
TEST(ReducerCap, GivesPagesBackAndClaimsThemAnew) {
  std::size_t const pages = granted_bytes / numa::page_bytes(), n = 4 * pages * ints_of_page();
  sparse_reducer<int> sum(n, {.most_bytes = 1});
  auto const mine = sum.local(0);
  std::byte const* const data = detail::copy_numbered(sum.core(), 0).data;
  touch_pages(mine, 0, pages);
  EXPECT_EQ(resident_pages(data, n * sizeof(int)), pages);
  touch_pages(mine, pages, pages + 1);
  EXPECT_EQ(resident_pages(data, n * sizeof(int)), 1u);
  touch_pages(mine, 0, pages - 1);
  EXPECT_EQ(early_folds(sum), 1);
  mine.span(0, (pages + 2) * ints_of_page());
  EXPECT_EQ(early_folds(sum), 2);
  touch_pages(mine, pages + 2, pages + 3);
  EXPECT_EQ(early_folds(sum), 3);
  EXPECT_EQ(sum_of(sum), static_cast<int>(2 * pages + 1));
}

/// A thread that spends nothing more leaves room for others when it has folded.
TEST(ReducerCap, IsOneForAllThreads) {
  std::size_t const pages = 4 * granted_bytes / numa::page_bytes();
  sparse_reducer<int> sum(4 * pages * ints_of_page(), {.most_bytes = pages * numa::page_bytes()});
  auto const one = sum.local(0), other = sum.local(1);
  touch_pages(one, 0, pages / 2);
  touch_pages(other, 0, pages / 2);
  EXPECT_EQ(early_folds(sum), 0);
  touch_pages(one, pages, pages + 1);  // gives back what it has
  EXPECT_EQ(early_folds(sum), 1);
  touch_pages(other, pages, pages + pages / 2 - 1);
  EXPECT_EQ(early_folds(sum), 1);
  touch_pages(other, 2 * pages, 2 * pages + 1);
  EXPECT_EQ(early_folds(sum), 2);
  EXPECT_EQ(sum_of(sum), static_cast<int>(pages + 1 + pages / 2 - 1 + 1));
}

/// Red if what was folded early counts after a reset, or not after a combination.
TEST(ReducerCap, ForgetsWhatWasFoldedEarlyWhenResetAndOnlyThen) {
  std::size_t const pages = 2 * granted_bytes / numa::page_bytes(), n = pages * ints_of_page();
  sparse_reducer<int> sum(n, {.most_bytes = 1});
  touch_pages(sum.local(), 0, pages);
  ASSERT_GT(early_folds(sum), 0);
  sum.reset();
  EXPECT_EQ(sum_of(sum), 0);
  touch_pages(sum.local(), 0, pages);
  EXPECT_EQ(sum_of(sum), static_cast<int>(pages));
  sum.reset();
  for (int round = 1; round <= 3; ++round) {
    touch_pages(sum.local(), 0, pages);
    std::vector<int> got(n);
    sum.combine_into(got);
    EXPECT_EQ(std::accumulate(got.begin(), got.end(), 0), static_cast<int>(pages)) << round;
  }
}

/// Of the last page, too, which may be shared with what is behind the array.
TEST(ReducerCap, LosesNothingOfLengthsThatAreNoPages) {
  for (std::size_t const beyond : {1u, 7u, 1023u}) {
    std::size_t const pages = 2 * granted_bytes / numa::page_bytes(), n = pages * ints_of_page() + beyond;
    sparse_reducer<int> sum(n, {.most_bytes = 1});
    std::vector<int> got(n, 5);
    auto const mine = sum.local();
    for (int round = 0; round < 2; ++round)
      for (std::size_t i = 0; i < n; ++i) mine[i] += 1;
    sum.combine_into(got);
    EXPECT_EQ(std::count(got.begin(), got.end(), 7), static_cast<std::ptrdiff_t>(n));
  }
}

}  // namespace
}  // namespace coset::reducer_test
