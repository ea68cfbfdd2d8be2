// SPDX-License-Identifier: Apache-2.0
// Copies between one reducer and the next: who gets which, and how much is kept. Nothing here is ever touched but one
// word of each copy, so that sizes cost nothing.
#include "reducer/pool.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace coset::reducer_room {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;
constexpr std::optional<unsigned> anywhere;

class Pool : public ::testing::Test {
 protected:
  using copy = std::unique_ptr<owned_copy>;

  /// One that takes all the room makes all others go, and goes itself.
  Pool() {
    leave(most_kept_bytes, {{0, 1}});
    (void)copy_set(most_kept_bytes).lend(0, anywhere);
  }

  struct mark {
    std::uint32_t number, is;
  };
  /// A set in which copies of these numbers have these marks, and what was there before.
  static void leave(std::size_t bytes, std::vector<mark> const& marks, std::optional<unsigned> node = anywhere) {
    copy_set all(bytes);
    std::vector<copy> made;
    for (mark const& each : marks) {
      made.push_back(all.lend(each.number, node));
      std::memcpy(made.back()->data, &each.is, sizeof each.is);
    }
    for (copy& each : made) all.take_back(std::move(each));
  }
  static std::uint32_t mark_of(copy const& c) {
    std::uint32_t is;
    std::memcpy(&is, c->data, sizeof is);
    return is;
  }
  /// Of what the next set has for these numbers, 0 for new ones. Leaves no set behind.
  static std::vector<std::uint32_t> marks_of_next(std::size_t bytes, std::vector<std::uint32_t> const& numbers,
                                                  std::optional<unsigned> node = anywhere) {
    copy_set next(bytes);
    std::vector<copy> lent;
    std::vector<std::uint32_t> marks;
    for (std::uint32_t const number : numbers) marks.push_back(mark_of(lent.emplace_back(next.lend(number, node))));
    return marks;
  }
  using marks = std::vector<std::uint32_t>;
};

TEST_F(Pool, GivesCopiesOfAboutTheSameSizeAgain) {
  leave(1'000'000, {{3, 7}});
  {
    copy_set again(990'000);
    copy const of_before = again.lend(3, anywhere);
    EXPECT_EQ(mark_of(of_before), 7u);
    EXPECT_GE(of_before->memory.size(), 1'000'000u);
  }
  EXPECT_EQ(marks_of_next(1'000'000, {3}), marks{0}) << "there was one only";
}

TEST_F(Pool, PrefersThoseOfTheNumberAndTakesAny) {
  leave(mebibyte, {{2, 72}, {3, 73}, {5, 75}});
  copy_set again(mebibyte);
  copy const of_three = again.lend(3, anywhere), other = again.lend(9, anywhere), last = again.lend(4, anywhere);
  EXPECT_EQ(mark_of(of_three), 73u);
  EXPECT_EQ(mark_of(other), 72u);
  EXPECT_EQ(other->number, 9u);
  EXPECT_EQ(mark_of(last), 75u);
  EXPECT_EQ(mark_of(again.lend(6, anywhere)), 0u);
}

TEST_F(Pool, GivesNoneOfAnotherSizeOrNode) {
  leave(mebibyte, {{3, 7}});
  EXPECT_EQ(marks_of_next(mebibyte / 2, {3}), marks{0});
  EXPECT_EQ(marks_of_next(2 * mebibyte, {3}), marks{0});
  copy_set here(mebibyte);
  copy const elsewhere = here.lend(3, 0u);
  EXPECT_EQ(mark_of(elsewhere), 0u);
  EXPECT_EQ(elsewhere->node, 0u);
  EXPECT_EQ(mark_of(here.lend(3, anywhere)), 7u);
}

TEST_F(Pool, GivesSetsAsTheyWereTheLatestFirst) {
  {
    copy_set first(mebibyte), second(mebibyte);  // the second ends first
    for (auto const& [set, is] : {std::pair(&first, 1u), std::pair(&second, 2u)}) {
      copy made = set->lend(0, anywhere);
      std::memcpy(made->data, &is, sizeof is);
      set->take_back(std::move(made));
    }
  }
  EXPECT_EQ(marks_of_next(mebibyte, {0}), marks{1});
  EXPECT_EQ(marks_of_next(mebibyte, {0}), marks{2});
}

TEST_F(Pool, CountsWhatItKeeps) {
  for (int k = 0; k < 100; ++k) {
    copy_set all(16 * mebibyte);
    copy mine = all.lend(1, anywhere);
    EXPECT_EQ(mark_of(mine), k == 0 ? 0u : 7u);
    std::uint32_t const is = 7;
    std::memcpy(mine->data, &is, sizeof is);
    all.take_back(std::move(mine));
  }
}

TEST_F(Pool, KeepsAsMuchAsItMayAndNoMore) {
  std::vector<mark> all;
  std::vector<std::uint32_t> numbers, expected;
  for (std::uint32_t k = 0; k < 17; ++k) {
    all.push_back({k, 100 + k});
    numbers.push_back(k);
    expected.push_back(k < 16 ? 100 + k : 0);
  }
  leave(16 * mebibyte, all);
  EXPECT_EQ(marks_of_next(16 * mebibyte, numbers), expected);
}

TEST_F(Pool, GivesUpOtherSizesWhereThereIsNoRoom) {
  leave(32 * mebibyte, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}});
  leave(64 * mebibyte, {{0, 10}});  // exactly
  leave(8 * mebibyte, {{0, 20}});   // no more
  EXPECT_EQ(marks_of_next(32 * mebibyte, {0}), marks{0});
  EXPECT_EQ(marks_of_next(64 * mebibyte, {0}), marks{0});
  leave(16 * mebibyte, std::vector<mark>(15, {0, 30}));  // and now there is room again
  EXPECT_EQ(marks_of_next(8 * mebibyte, {0}), marks{20});
  EXPECT_EQ(marks_of_next(16 * mebibyte, {0}), marks{30});
}

/// Red if a large set is cut in favour of small ones of its size that nobody has asked for since.
TEST_F(Pool, GivesUpTheOldestOfItsSizeWhereThereIsNoRoom) {
  {
    std::vector<std::unique_ptr<copy_set>> small;
    for (std::uint32_t k = 0; k < 8; ++k) {
      small.push_back(std::make_unique<copy_set>(32 * mebibyte));
      small.back()->take_back(small.back()->lend(0, anywhere));
    }
  }
  leave(32 * mebibyte, {{0, 1}, {1, 2}, {2, 3}, {3, 4}});
  EXPECT_EQ(marks_of_next(32 * mebibyte, {0, 1, 2, 3}), (marks{1, 2, 3, 4}));
}

TEST_F(Pool, GivesMoreThanOneSetToWhoAsksForMore) {
  {
    copy_set first(mebibyte), second(mebibyte);
    for (auto const& [set, is] : {std::pair(&first, 1u), std::pair(&second, 2u)}) {
      copy made = set->lend(0, anywhere);
      std::memcpy(made->data, &is, sizeof is);
      set->take_back(std::move(made));
    }
  }
  EXPECT_EQ(marks_of_next(mebibyte, {0, 0, 0}), (marks{1, 2, 0}));
}

TEST_F(Pool, LeavesWhatNobodyHasAskedFor) {
  leave(mebibyte, {{0, 1}, {1, 2}});
  copy_set some(mebibyte);
  copy const used = some.lend(0, anywhere);
  EXPECT_TRUE(some.has_idle());
  some.leave_idle();
  EXPECT_FALSE(some.has_idle());
  EXPECT_EQ(marks_of_next(mebibyte, {1}), marks{2});
}

TEST_F(Pool, HasCopiesOfNothing) {
  for (int k = 0; k < 2; ++k) {
    copy_set none(0);
    copy made = none.lend(0, anywhere);
    EXPECT_GT(made->memory.size(), 0u);
    none.take_back(std::move(made));
  }
}

/// All sets are looked at, so there is a limit to their number.
TEST_F(Pool, KeepsNotAnyNumberOfSets) {
  {
    std::vector<std::unique_ptr<copy_set>> all;
    for (std::uint32_t k = 0; k < 300; ++k) {
      all.push_back(std::make_unique<copy_set>(4096));
      copy made = all.back()->lend(0, anywhere);
      std::uint32_t const is = 1 + k;
      std::memcpy(made->data, &is, sizeof is);
      all.back()->take_back(std::move(made));
    }
    for (auto& each : all) each.reset();
  }
  for (std::uint32_t k = 300; k > 44; --k) ASSERT_EQ(marks_of_next(4096, {0}), marks{k});
  EXPECT_EQ(marks_of_next(4096, {0}), marks{0});
}

}  // namespace
}  // namespace coset::reducer_room
