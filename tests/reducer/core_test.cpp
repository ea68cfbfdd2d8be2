// SPDX-License-Identifier: Apache-2.0
// Reducers without types, played by one thread: where arrays lie, whose a copy is, what parts of a fold do.
#include "reducer/core.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <string>

#include "coset/error.hpp"
#include "coset/operations.hpp"
#include "numa/binding.hpp"
#include "numa/memory.hpp"

namespace coset::reducer_test {
namespace {

using detail::private_copy;
using detail::reducer_core;
using sizes = std::vector<std::size_t>;

template <class T>
void fill(void const* element, std::size_t, void* to, std::size_t count) {
  std::fill_n(static_cast<T*>(to), count, *static_cast<T const*>(element));
}

template <class T, class Op = plus>
detail::reduced_array array_of(std::size_t count, T identity = {}, Op op = {}) {
  return {count, &detail::table_of<T, Op>(), std::make_shared<Op const>(op), std::make_shared<T const>(identity),
          &fill<T>};
}

std::shared_ptr<reducer_core> sums_of(std::vector<std::size_t> const& counts) {
  std::vector<detail::reduced_array> arrays;
  for (std::size_t const count : counts) arrays.push_back(array_of<int>(count));
  return std::make_shared<reducer_core>(std::move(arrays));
}

std::shared_ptr<reducer_core> sparse_sum_of(std::size_t count, sparse_options const& options, int identity = 0) {
  return std::make_shared<reducer_core>(array_of<int>(count, identity), options);
}

std::span<int> ints(private_copy& copy, std::size_t count, std::size_t offset = 0) {
  return {reinterpret_cast<int*>(copy.data + offset), count};
}

/// Element k of several arrays is in other lines of the caches' sets, and of what processors compare addresses by.
TEST(Arrays, OfACopyBeginOnLinesAndApart) {
  auto const core = sums_of({3000, 3000, 3000, 3000, 3, 0});
  std::vector<std::size_t> begins;
  for (std::size_t k = 0; k < 6; ++k) {
    begins.push_back(offset_of(*core, k));
    EXPECT_EQ(begins[k] % 64, 0u);
    if (k > 0) {
      EXPECT_GE(begins[k], begins[k - 1] + core->parts()[k - 1].array.count * sizeof(int));
      EXPECT_LT(begins[k], begins[k - 1] + core->parts()[k - 1].array.count * sizeof(int) + 64 + 4096);
    }
    EXPECT_EQ(begins[k] % 4096, k * 4096 / 6 / 64 * 64);
  }
  EXPECT_EQ(offset_of(*sums_of({3, 3, 3}), 2), 128u) << "small ones lie side by side";
}

TEST(Arrays, AreNotLongerThanMemory) {
  constexpr std::size_t most = std::numeric_limits<std::ptrdiff_t>::max() / 2 / sizeof(int);
  EXPECT_NO_THROW(sums_of({most}));
  EXPECT_THROW(sums_of({most + 1}), argument_error);
  try {
    (void)sums_of({most, most, most});
    ADD_FAILURE();
  } catch (argument_error const& e) {
    EXPECT_NE(std::string(e.what()).find("a reducer of 3 arrays with more bytes than there are"), std::string::npos);
  }
}

TEST(Arrays, AreFoldedIntoTheTotalEachAtItsPlace) {
  auto const core = sums_of({3000, 5});
  for (std::uint32_t const number : {0u, 1u}) {
    private_copy& mine = copy_numbered(*core, number);
    ints(mine, 3000)[2999] = 7;
    ints(mine, 5, offset_of(*core, 1))[4] = 9;
  }
  (void)core->total();
  for (std::size_t part = 0; part < 3; ++part) fold_part(*core, nullptr, part, 3);
  private_copy& total = core->total();
  EXPECT_EQ(total.generation, core->generation());
  EXPECT_EQ(std::accumulate(ints(total, 3000).begin(), ints(total, 3000).end(), 0), 14);
  EXPECT_EQ(ints(total, 3000)[2999], 14);
  EXPECT_EQ(ints(total, 5, offset_of(*core, 1))[4], 18);
  EXPECT_EQ(ints(total, 5, offset_of(*core, 1))[3], 0);
}

struct wide {
  std::array<int, 40> of{};
};
struct add_wide {
  wide operator()(wide a, wide const& b) const {
    for (std::size_t k = 0; k < a.of.size(); ++k) a.of[k] += b.of[k];
    return a;
  }
};

TEST(Parts, OfElementsWiderThanALineAreWhole) {
  constexpr std::size_t count = 7;
  std::vector<detail::reduced_array> arrays{array_of<wide, add_wide>(count)};
  auto const core = std::make_shared<reducer_core>(std::move(arrays));
  for (std::uint32_t const number : {0u, 1u, 2u}) {
    auto* const mine = reinterpret_cast<wide*>(copy_numbered(*core, number).data);
    for (std::size_t k = 0; k < count; ++k) mine[k].of[39] = 1 << number;
  }
  std::vector<wide> into(count);
  void* const to = into.data();
  for (std::size_t part = 0; part < 3; ++part) fold_part(*core, &to, part, 3);
  for (wide const& w : into) EXPECT_EQ(w.of[39], 7);
}

/// Whoever folds one part leaves the marks of the others alone: they are folded at the same time.
TEST(Parts, OfBlocksKeepToTheirOwn) {
  constexpr std::size_t count = 1 << 14;
  for (std::size_t const parts : {1u, 2u, 3u, 5u}) {
    auto const core = sparse_sum_of(count, {.block_bytes = 64});
    private_copy& mine = copy_numbered(*core, 0);
    detail::touch(*core, mine, 0, core->shape().number());
    std::ranges::fill(ints(mine, count), 1);
    std::vector<int> into(count);
    void* const to = into.data();
    std::size_t done = 0;
    for (std::size_t part = 0; part < parts; ++part) {
      fold_part(*core, &to, part, parts);
      auto const now = static_cast<std::size_t>(std::ranges::count(into, 1));
      EXPECT_EQ(std::count(into.begin(), into.begin() + static_cast<std::ptrdiff_t>(now), 1),
                static_cast<std::ptrdiff_t>(now));
      EXPECT_LE(now, (part + 1) * count / parts + 8 * 16);
      EXPECT_GE(now, (part + 1) * count / parts - 8 * 16);
      EXPECT_GT(now, done);
      done = now;
    }
    EXPECT_EQ(done, count);
  }
}

TEST(Parts, FillATotalOnlyTogether) {
  auto const core = sums_of({10});
  private_copy& total = core->total();
  for (int round = 0; round < 3; ++round) {
    core->part_is_done(2, true);
    EXPECT_NE(total.generation, core->generation());
    core->part_is_done(2, true);
    EXPECT_EQ(total.generation, core->generation());
    for (int part = 0; part < 2; ++part) core->part_is_done(2, false);
    EXPECT_NE(total.generation, core->generation());
    core->part_is_done(2, true);
    // An operation threw in the other one.
    core->reset();
    EXPECT_NE(total.generation, core->generation());
  }
}

TEST(Claims, AreOneThreadsUntilAnotherMissesIt) {
  auto const core = sums_of({10});
  int a = 0, b = 0;  // stand for threads
  private_copy* const first = core->claimed(0, &a);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(core->claimed(0, &a), first);
  EXPECT_NE(core->claimed(1, &a), first);
  auto const key = core->key();
  renew_claims(*core);
  EXPECT_EQ(core->key(), key) << "nobody has missed it";
  EXPECT_EQ(core->claimed(0, &b), nullptr);
  EXPECT_EQ(core->claimed(0, &a), first);
  renew_claims(*core);
  EXPECT_NE(core->key(), key);
  EXPECT_EQ(core->claimed(0, &b), first);
  EXPECT_EQ(core->claimed(0, &a), nullptr);
}

TEST(Rounds, AreForCopiesOfTheseThreadsAlone) {
  auto const core = sums_of({10});
  EXPECT_FALSE(core->has_just(1));
  (void)core->numbered(0);
  (void)core->numbered(1);
  EXPECT_TRUE(core->has_just(2));
  EXPECT_FALSE(core->has_just(1));
  EXPECT_FALSE(core->has_just(3));
  (void)core->numbered(3);
  EXPECT_FALSE(core->has_just(3));
  auto const with_total = sums_of({10});
  (void)with_total->numbered(0);
  (void)with_total->total();
  EXPECT_FALSE(with_total->has_just(1));
  auto const with_own = sums_of({10});
  (void)with_own->numbered(0);
  (void)with_own->take();
  EXPECT_FALSE(with_own->has_just(1));
}

struct throwing_add {
  int* left;
  int operator()(int a, int b) const {
    if ((*left)-- == 0) throw 7;
    return a + b;
  }
};

/// Thread 1 gives up at once; thread 0 folds its own slice and no other.
TEST(Rounds, GoNoFurtherThanWhoGaveUp) {
  constexpr std::size_t count = 100;
  int left = 0;
  std::vector<detail::reduced_array> arrays{array_of<int, throwing_add>(count, 0, {&left})};
  auto const core = std::make_shared<reducer_core>(std::move(arrays));
  for (std::uint32_t const number : {0u, 1u}) std::ranges::fill(ints(copy_numbered(*core, number), count), 1);
  std::vector<int> into(count);
  void* const to = into.data();
  begin_round(*core);
  EXPECT_THROW(fold_round(*core, &to, 1, 2), int);
  left = 1000;
  fold_round(*core, &to, 0, 2);
  EXPECT_EQ(std::accumulate(into.begin(), into.end(), 0), 48) << "whole lines of half of the array";
}

TEST(Blocks, AreAsLongAsAsked) {
  auto const shift_of = [](std::size_t count, sparse_options const& o) {
    return block_shift(*sparse_sum_of(count, o));
  };
  EXPECT_EQ(shift_of(10'000, {.block_bytes = 64}), 4u);
  EXPECT_EQ(shift_of(10'000, {.block_bytes = 100}), 4u);
  EXPECT_EQ(shift_of(10'000, {.block_bytes = 1}), 0u);
  // One for all.
  EXPECT_EQ(shift_of(100, {.block_bytes = 400}), 7u);
  EXPECT_EQ(shift_of(100, {.block_bytes = 4000}), 7u);
  EXPECT_EQ(shift_of(0, {.block_bytes = 400}), 0u);
  EXPECT_GE(sizeof(int) << shift_of(100'000, {.block_bytes = 1, .most_bytes = 1}), numa::page_bytes());
}

/// By runs of those that were touched.
TEST(Blocks, AreEmptiedWhereverTheyWereTouched) {
  constexpr std::size_t count = 40 * 16;
  for (int const identity : {0, 5}) {
    auto const core = sparse_sum_of(count, {.block_bytes = 64}, identity);
    private_copy& mine = copy_numbered(*core, 0);
    for (std::vector<std::size_t> const& touched :
         {sizes{0}, sizes{20}, sizes{39}, sizes{3, 4}, sizes{7, 8}, sizes{0, 5, 6, 21, 38}}) {
      for (std::size_t const block : touched) {
        detail::touch(*core, mine, block);
        std::ranges::fill(ints(mine, count).subspan(block * 16, 16), 3);
      }
      reset(*core);
      EXPECT_EQ(&copy_numbered(*core, 0), &mine);
      for (std::size_t block = 0; block < 40; ++block) {
        EXPECT_EQ(mine.touched[block], detail::mark::untouched);
        detail::touch(*core, mine, block);
      }
      EXPECT_EQ(std::ranges::count(ints(mine, count), identity), std::ssize(ints(mine, count)));
      reset(*core);
      (void)copy_numbered(*core, 0);
    }
  }
}

/// The last of a long array, so that whoever fills too much meets the end of the mapping.
TEST(Blocks, AreEmptiedUpToTheEndOfTheArray) {
  constexpr std::size_t count = 1 << 20;
  auto const core = sparse_sum_of(count, {.block_bytes = 4096});
  private_copy& mine = copy_numbered(*core, 0);
  detail::touch(*core, mine, core->shape().number() - 1);
  ints(mine, count)[count - 1] = 3;
  reset(*core);
  (void)copy_numbered(*core, 0);
  EXPECT_EQ(ints(mine, count)[count - 1], 0);
}

std::size_t spills_of(reducer_core const& core) {
  std::string const text = core.describe();
  return std::stoul(text.substr(text.find("folded early ") + 13));
}

/// 64 KiB are granted to each copy, whatever the cap.
TEST(Cap, IsSpentPageByPage) {
  std::size_t const page = numa::page_bytes(), granted = 65'536 / page, cap = 2 * granted;
  auto const core = sparse_sum_of(100 * 65'536 / sizeof(int), {.most_bytes = cap * page});
  ASSERT_EQ(core->shape().block_bytes(), page);
  private_copy &a = copy_numbered(*core, 0), &b = copy_numbered(*core, 1);
  detail::touch(*core, a, 0, cap);
  EXPECT_EQ(spills_of(*core), 0u) << "all that there is";
  detail::touch(*core, b, 0, granted);
  EXPECT_EQ(spills_of(*core), 0u) << "granted always";
  detail::touch(*core, a, 0, cap);
  EXPECT_EQ(spills_of(*core), 0u) << "claims nothing new";
  detail::touch(*core, b, granted);
  EXPECT_EQ(spills_of(*core), 1u) << "more than is granted, and nothing is left";
  detail::touch(*core, a, cap);
  EXPECT_EQ(spills_of(*core), 2u);
  // What was given back may be claimed again.
  detail::touch(*core, a, cap + 1, granted);
  EXPECT_EQ(spills_of(*core), 2u);
}

TEST(Cap, OfOneIsReachedExactly) {
  std::size_t const page = numa::page_bytes(), cap = 2 * 65'536 / page;
  auto const core = sparse_sum_of(100 * 65'536 / sizeof(int), {.most_bytes = cap * page});
  private_copy& a = copy_numbered(*core, 0);
  for (std::size_t block = 0; block < cap; ++block) detail::touch(*core, a, block);
  EXPECT_EQ(spills_of(*core), 0u);
  detail::touch(*core, a, cap);
  EXPECT_EQ(spills_of(*core), 1u);
}

TEST(Cap, IsLoggedWhenItIsFirstReached) {
  setenv("COSET_LOG", "plan", 1);
  ::testing::internal::CaptureStderr();
  std::size_t const page = numa::page_bytes(), granted = 65'536 / page;
  auto const core = sparse_sum_of(100 * 65'536 / sizeof(int), {.most_bytes = page});
  private_copy& a = copy_numbered(*core, 0);
  for (std::size_t block = 0; block <= 3 * granted; ++block) detail::touch(*core, a, block);
  std::string const said = ::testing::internal::GetCapturedStderr();
  unsetenv("COSET_LOG");
  EXPECT_EQ(spills_of(*core), 3u);
  EXPECT_NE(said.find("folded early 1 times"), std::string::npos) << said;
  EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
}

TEST(Processors, AreSharedByMoreThreadsThanThereAre) {
  std::size_t const processors = numa::usable_processors();
  EXPECT_FALSE(detail::share_processors(processors));
  EXPECT_TRUE(detail::share_processors(processors + 1));
}

}  // namespace
}  // namespace coset::reducer_test
