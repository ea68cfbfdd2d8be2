// SPDX-License-Identifier: Apache-2.0
// Parts of folds: which elements each writes, in whichever order they come, and what they leave behind.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <vector>

#include "coset/reducers/sparse_reducer.hpp"
#include "reducer/copies/erased.hpp"
#include "support/process_team.hpp"

namespace coset::reducer_test {
namespace {

/// More than a line, and than what is folded in one go.
struct large {
  std::array<double, 300> of{};
  friend bool operator==(large const&, large const&) = default;
};

large operator+(large a, large const& b) {
  for (std::size_t k = 0; k < a.of.size(); ++k) a.of[k] += b.of[k];
  return a;
}

large filled(double value) {
  large all;
  all.of.fill(value);
  return all;
}

/// Parts in an order in which none is last that begins or ends; between them elements are set that are of no later part.
template <class Reducer>
void check_parts(std::size_t n, std::size_t parts, combining how, Reducer sum) {
  std::vector<int> got(n, 5);
  for (std::uint32_t number = 0; number < 3; ++number) {
    auto const mine = sum.local(number);
    for (std::size_t i = 0; i < n; ++i) mine[i] += static_cast<int>(i % 7) + 1;
  }
  std::vector<int> times(n);
  for (std::size_t k = 0; k < parts; ++k) {
    std::size_t const part = (k * 2 + 1) % parts;  // each once, as the number is odd
    std::vector<int> const before = got;
    sum.combine_part(got, part, parts, how);
    for (std::size_t i = 0; i < n; ++i) times[i] += got[i] != before[i] ? 1 : 0;
  }
  for (std::size_t i = 0; i < n; ++i) {
    ASSERT_EQ(got[i], (how == combining::add ? 5 : 0) + 3 * (static_cast<int>(i % 7) + 1)) << i << " of " << n;
    ASSERT_EQ(times[i], got[i] == 5 ? 0 : 1) << i << " of " << n;
  }
}

TEST(FoldedParts, WriteEachElementOnceInAnyOrder) {
  for (std::size_t const n : {1u, 15u, 16u, 100u, 1000u, 4'099u})
    for (std::size_t const parts : {1u, 3u, 5u, 31u})
      for (combining const how : {combining::add, combining::assign}) {
        check_parts(n, parts, how, reducer<int>(n));
        check_parts(n, parts, how, sparse_reducer<int>(n, {.block_bytes = 64}));
        check_parts(n, parts, how, sparse_reducer<int>(n, {.block_bytes = 64, .most_bytes = 1 << 20}));
      }
}

TEST(FoldedParts, OfElementsLargerThanWhatIsFoldedInOneGoAreWholeElements) {
  auto const add = [](large const& a, large const& b) { return a + b; };
  for (std::size_t const n : {1u, 2u, 100u}) {
    core_pointer const core = detail::make_reducer({sums_of<large>(n, add, large{})});
    std::vector<large> got(n, filled(1));
    void* const into = got.data();
    for (std::uint32_t number = 0; number < 3; ++number)
      std::fill_n(elements_of<large>(*core, detail::copy_numbered(*core, number)), n, filled(number + 1));
    for (std::size_t const part : {2u, 0u, 1u}) detail::fold_part(*core, &into, part, 3);
    EXPECT_EQ(got, std::vector<large>(n, filled(7)));
  }
}

/// All parts together leave the total full or empty, whatever was folded before, in however many.
TEST(FoldedParts, CountAsOneWhenAllAreDone) {
  std::size_t const n = 1000;
  auto const check = [&](auto sum) {
    auto const sum_of_view = [&] {
      auto const view = sum.view();
      return std::accumulate(view.begin(), view.end(), 0);
    };
    std::vector<int> got(n);
    sum.local()[1] += 1;
    sum.combine_into(got);
    sum.local()[1] += 2;
    EXPECT_EQ(sum_of_view(), 2);
    sum.local()[2] += 3;
    EXPECT_EQ(sum_of_view(), 5);
    for (std::size_t part = 0; part < 3; ++part) sum.combine_part(got, part, 3);
    EXPECT_EQ(sum_of_view(), 0) << "handed over";
    EXPECT_EQ(got[1], 3);
    EXPECT_EQ(got[2], 3);
    // Some parts, as where an operation throws.
    sum.local()[1] += 4;
    sum.combine_part(got, 0, 3);
    sum.reset();
    sum.local()[n - 1] += 5;
    EXPECT_EQ(sum_of_view(), 5);
    sum.local()[n - 1] += 6;
    EXPECT_EQ(sum_of_view(), 11);
    sum.combine_into(got);
    EXPECT_EQ(got[n - 1], 11);
    EXPECT_EQ(sum_of_view(), 0);
  };
  check(reducer<int>(n));
  check(sparse_reducer<int>(n, {.block_bytes = 64}));
  check(sparse_reducer<int>(n, {.block_bytes = 64, .most_bytes = 1 << 20}));
}

/// Red if there is room for 32 arrays only.
TEST(FoldedParts, FoldAnyNumberOfCopies) {
  for (std::uint32_t copies = 28; copies <= 36; ++copies)
    for (bool const views : {false, true}) {
      reducer<int> dense(300);
      sparse_reducer<int> sparse(300, {.block_bytes = 64});
      for (std::uint32_t number = 0; number < copies; ++number) {
        for (int& one : dense.local(number)) one += static_cast<int>(number);
        for (int& one : sparse.local(number).span()) one += static_cast<int>(number);
      }
      int const all = static_cast<int>(copies * (copies - 1) / 2);
      for (int const has : {0, 1}) {
        std::vector<int> got(300, has);
        if (views) {
          EXPECT_EQ(dense.view()[299], all);
          EXPECT_EQ(sparse.view()[299], all);
          continue;
        }
        dense.combine_into(got);
        EXPECT_EQ(got, std::vector<int>(300, has + (has == 0 ? all : 0)));
        sparse.combine_into(got);
        EXPECT_EQ(got, std::vector<int>(300, has + (has == 0 ? 2 * all : 0)));
      }
    }
}

/// Any block of any copy, so that runs begin and end anywhere, with more of them than are prefetched at a time.
TEST(FoldedBlocks, AreThoseThatTheirCopiesHaveTouched) {
  std::size_t const blocks = 203, block = 16, n = blocks * block - 5;
  std::uint64_t random = 1;
  auto const next = [&] { return (random = random * 6364136223846793005u + 1442695040888963407u) >> 33; };
  for (std::uint64_t const one_of : {1u, 2u, 3u, 9u, 40u})
    for (std::size_t const run : {1u, 8u, 20u})
      for (combining const how : {combining::add, combining::assign})
        for (std::size_t const most_bytes : {0u, 1u << 20}) {
          sparse_reducer<int> sum(n, {.block_bytes = block * sizeof(int), .most_bytes = most_bytes});
          std::vector<int> got(n, 7), expected(n, how == combining::add ? 7 : 0);
          for (std::uint32_t number = 0; number < 3; ++number) {
            auto const mine = sum.local(number);
            for (std::size_t b = 0; b < blocks; b += run) {
              if (next() % one_of != 0) continue;
              for (std::size_t i = b * block; i < std::min((b + run) * block, n); ++i) {
                mine[i] += static_cast<int>(i % 5) + 1;
                expected[i] += static_cast<int>(i % 5) + 1;
              }
            }
          }
          sum.combine_into(got, how);
          ASSERT_EQ(got, expected) << one_of << ' ' << run;
          sum.combine_into(got);
          ASSERT_EQ(got, expected) << "copies are empty";
        }
}

/// What a round leaves is empty, and its last does not keep the next from beginning.
TEST(FoldedRounds, OfOneThreadFollowEachOther) {
  reducer<int> sum(100);
  std::vector<int> got(100);
  void* const into = got.data();
  for (int round = 1; round <= 5; ++round) {
    for (int& one : sum.local(0)) one += round;
    detail::begin_round(sum.core());
    detail::fold_round(sum.core(), &into, 0, 1, round == 3 ? combining::assign : combining::add);
  }
  EXPECT_EQ(got, std::vector<int>(100, 12));
}

TEST(Reducer, OfAProcessWithOneRankAddsItsCopy) {
  team_room::process_team alone(numa::memory(team_room::process_team::bytes_for(1, 1 << 16)), 0, 1);
  reducer<int> sum(100);
  std::vector<int> got(100, 5);
  for (int round = 1; round <= 2; ++round) {
    sum.local(0)[3] += 1;
    sum.combine_into(got, alone.self());
    EXPECT_EQ(got[3], 5 + round);
    EXPECT_EQ(got[4], 5);
  }
}

}  // namespace
}  // namespace coset::reducer_test
