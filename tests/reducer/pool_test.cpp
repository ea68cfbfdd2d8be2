// SPDX-License-Identifier: Apache-2.0
// Copies between one reducer and the next: who gets which, and how much is kept. Nothing here is ever touched but one
// word of each copy, so that sizes cost nothing.
#include "reducer/pool.hpp"

#include <gtest/gtest.h>

#include <cstring>
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
    take_back(lend(most_kept_bytes, 0, anywhere));
    (void)lend(most_kept_bytes, 0, anywhere);
  }

  static copy marked(std::size_t bytes, std::uint32_t number, std::uint32_t mark,
                     std::optional<unsigned> node = anywhere) {
    copy made = lend(bytes, number, node);
    std::memcpy(made->data, &mark, sizeof mark);
    return made;
  }
  static std::uint32_t mark_of(copy const& c) {
    std::uint32_t mark;
    std::memcpy(&mark, c->data, sizeof mark);
    return mark;
  }
  /// 0 if it is a new one.
  static std::uint32_t mark_of_next(std::size_t bytes, std::uint32_t number, std::optional<unsigned> node = anywhere) {
    return mark_of(lend(bytes, number, node));
  }
};

TEST_F(Pool, GivesCopiesOfAboutTheSameSizeAgain) {
  take_back(marked(1'000'000, 3, 7));
  copy const again = lend(990'000, 3, anywhere);
  EXPECT_EQ(mark_of(again), 7u);
  EXPECT_GE(again->memory.size(), 1'000'000u);
  EXPECT_EQ(mark_of_next(1'000'000, 3), 0u) << "there was one only";
}

TEST_F(Pool, PrefersThoseOfTheNumberAndTakesAny) {
  std::vector<copy> all;
  for (std::uint32_t const number : {2u, 3u, 5u}) all.push_back(marked(mebibyte, number, 70 + number));
  for (copy& each : all) take_back(std::move(each));
  copy const of_three = lend(mebibyte, 3, anywhere);
  EXPECT_EQ(mark_of(of_three), 73u);
  copy const other = lend(mebibyte, 9, anywhere);
  EXPECT_EQ(mark_of(other), 72u);
  EXPECT_EQ(other->number, 9u);
  EXPECT_EQ(mark_of_next(mebibyte, 4), 75u);
}

TEST_F(Pool, GivesNoneOfAnotherSizeOrNode) {
  take_back(marked(mebibyte, 3, 7));
  for (std::size_t const bytes : {mebibyte / 2, 2 * mebibyte}) {
    copy const other = lend(bytes, 3, anywhere);
    EXPECT_EQ(mark_of(other), 0u);
    EXPECT_GE(other->memory.size(), bytes);
    EXPECT_LT(other->memory.size(), 2 * bytes);
  }
  copy const elsewhere = lend(mebibyte, 3, 0u);
  EXPECT_EQ(mark_of(elsewhere), 0u);
  EXPECT_EQ(elsewhere->node, 0u);
  EXPECT_EQ(mark_of_next(mebibyte, 3), 7u);
}

TEST_F(Pool, CountsWhatItKeeps) {
  for (int k = 0; k < 100; ++k) {
    copy mine = lend(16 * mebibyte, 1, anywhere);
    EXPECT_EQ(mark_of(mine), k == 0 ? 0u : 7u);
    std::uint32_t const mark = 7;
    std::memcpy(mine->data, &mark, sizeof mark);
    take_back(std::move(mine));
  }
}

TEST_F(Pool, KeepsAsMuchAsItMayAndNoMore) {
  std::vector<copy> all;
  for (std::uint32_t k = 0; k < 17; ++k) all.push_back(marked(16 * mebibyte, k, 100 + k));
  for (copy& each : all) take_back(std::move(each));
  std::vector<copy> again;
  for (std::uint32_t k = 0; k < 16; ++k) {
    again.push_back(lend(16 * mebibyte, k, anywhere));
    EXPECT_EQ(mark_of(again.back()), 100 + k);
  }
  EXPECT_EQ(mark_of_next(16 * mebibyte, 16), 0u);
}

TEST_F(Pool, GivesUpOtherSizesWhereThereIsNoRoom) {
  std::vector<copy> all;
  for (std::uint32_t k = 0; k < 14; ++k) all.push_back(marked(16 * mebibyte, k, 100 + k));
  copy fits = marked(32 * mebibyte, 50, 50), longer = marked(64 * mebibyte, 51, 51);
  for (copy& each : all) take_back(std::move(each));
  take_back(std::move(fits));  // exactly
  EXPECT_EQ(mark_of_next(16 * mebibyte, 13), 113u);
  EXPECT_EQ(mark_of_next(32 * mebibyte, 50), 50u);
  take_back(std::move(longer));  // 13 of 16 MiB are there, and 64 are no more
  EXPECT_EQ(mark_of_next(16 * mebibyte, 12), 0u);
  EXPECT_EQ(mark_of_next(64 * mebibyte, 51), 51u);
  // And now there is room for all of them again.
  for (std::uint32_t k = 0; k < 16; ++k) all.push_back(marked(16 * mebibyte, k, 200 + k));
  all.erase(all.begin(), all.begin() + 14);
  for (copy& each : all) take_back(std::move(each));
  for (std::uint32_t k = 0; k < 16; ++k) EXPECT_EQ(mark_of_next(16 * mebibyte, k), 200 + k);
}

}  // namespace
}  // namespace coset::reducer_room
