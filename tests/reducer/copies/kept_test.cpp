// SPDX-License-Identifier: Apache-2.0
// Sparse reducers whose threads keep updates for later: the bits of a serial loop, and when they have copies instead.
#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "coset/error.hpp"
#include "reducer/updates.hpp"

namespace coset::reducer_test {
namespace {

constexpr std::size_t length = 300'000;

std::vector<update<double>> uneven_updates(std::size_t number, std::size_t elements, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<update<double>> all(number);
  for (auto& one : all) one = {random() % elements, 1 / static_cast<double>(random() % 1000 + 1)};
  return all;
}

/// A stretch of all updates for each number, by as many threads.
template <class Reducer, class T>
void reduce_stretches(Reducer& sum, std::vector<update<T>> const& all, std::uint32_t threads) {
  on_threads(threads, [&](std::uint32_t t) {
    auto const mine = sum.local(t);
    for (std::size_t i = all.size() * t / threads; i < all.size() * (t + 1) / threads; ++i)
      mine[all[i].index].reduce(all[i].value);
  });
}

template <class Reducer>
bool keeps(Reducer const& of) {
  return of.describe().find("updates are kept for later") != std::string::npos;
}

/// Any operation, as long as somebody says that it commutes: this one does not, so each change of order shows.
struct half_and_add {
  double operator()(double a, double b) const { return a / 2 + b; }
};

TEST(KeptUpdates, GiveTheBitsOfTheSerialLoop) {
  auto const check = [](auto op, std::size_t number) {
    using operation = decltype(op);
    for (std::uint32_t const threads : {1u, 2u, 5u})
      for (std::size_t const parts : {1u, 3u, 200u}) {
        sparse_reducer<double, operation> sum(length, op, 0.0, {.by = way::partition});
        std::vector<double> expected(length, 0.1), got = expected;
        for (int round = 0; round < 3; ++round) {
          auto const how = round == 1 ? combining::assign : combining::add;
          if (how == combining::assign) expected.assign(length, 0);
          auto const updates = uneven_updates(number, length, test::seed() + static_cast<std::uint64_t>(round));
          apply(expected, updates, op);
          reduce_stretches(sum, updates, threads);
          for (std::size_t part = parts; part-- > 0;) sum.combine_part(got, part, parts, how);
          ASSERT_EQ(got, expected) << threads << " threads, " << parts << " parts, round " << round;
        }
        EXPECT_TRUE(keeps(sum)) << sum.describe();
      }
  };
  for (std::size_t const number : {0u, 1u, 1'000u, 30'000u}) check(plus{}, number);
  check(half_and_add{}, 30'000);
}

/// Views grow, and hand over.
TEST(KeptUpdates, AreSeenInViews) {
  sparse_reducer<double> sum(length, {.by = way::partition});
  std::vector<double> expected(length), got(length, 3.0);
  for (int round = 0; round < 3; ++round) {
    auto const updates = uneven_updates(10'000, length, test::seed());
    apply(expected, updates, plus{});
    reduce_stretches(sum, updates, 2);
    auto const view = sum.view();
    ASSERT_TRUE(std::equal(view.begin(), view.end(), expected.begin())) << round;
  }
  sum.combine_into(got, combining::assign);
  EXPECT_EQ(got, expected);
  EXPECT_EQ(sum.view()[7], 0);
}

TEST(KeptUpdates, TakeAllAssignmentsOfTheirOperation) {
  auto const result = [](auto op, auto update) {
    sparse_reducer<unsigned, decltype(op)> all(length, {.by = way::partition});
    std::vector<unsigned> got(length, 12);
    update(all.local()[7]);
    all.combine_into(got);
    EXPECT_EQ(got[6], 12u);
    return got[7];
  };
  EXPECT_EQ(result(plus{}, [](auto mine) { mine += 5; }), 17u);
  EXPECT_EQ(result(plus{}, [](auto mine) { mine -= 5; }), 7u);
  EXPECT_EQ(result(plus{}, [](auto mine) { ++mine, mine++; }), 14u);
  EXPECT_EQ(result(plus{}, [](auto mine) { --mine, mine--; }), 10u);
  EXPECT_EQ(result(multiplies{}, [](auto mine) { mine *= 5; }), 60u);
  EXPECT_EQ(result(bit_and{}, [](auto mine) { mine &= 6; }), 4u);
  EXPECT_EQ(result(bit_or{}, [](auto mine) { mine |= 3; }), 15u);
  EXPECT_EQ(result(bit_xor{}, [](auto mine) { mine ^= 5; }), 9u);
  EXPECT_EQ(result(minimum{}, [](auto mine) { mine.reduce(5); }), 5u);
}

/// The same updates at the same places, round after round: some make copies worth their while, others do not. Accessors of
/// the round before are as good as new ones.
TEST(SparseWays, FollowWhatWasCounted) {
  std::size_t const many = 200'000;
  sparse_reducer<long> sum(std::size_t{1} << 21);
  std::vector<long> got(sum.size()), expected = got;
  auto const mine = sum.local(0);
  auto const round = [&](std::size_t stride, std::size_t places, bool anew) {
    auto const here = anew ? sum.local(0) : mine;
    for (std::size_t k = 0; k < many; ++k) {
      std::size_t const at = k % places * stride;
      here[at] += 1;
      ++expected[at];
    }
    sum.combine_into(got);
    ASSERT_EQ(got, expected);
  };
  EXPECT_TRUE(keeps(sum));
  round(10, many, true);
  EXPECT_TRUE(keeps(sum)) << "each element once: " << sum.describe();
  round(999, 50, true);
  EXPECT_FALSE(keeps(sum)) << "few elements often: " << sum.describe();
  for (bool const anew : {false, true, false}) round(999, 50, anew);
  EXPECT_FALSE(keeps(sum)) << sum.describe();
  round(10, many, true);
  EXPECT_TRUE(keeps(sum)) << "other blocks, so their updates are counted again: " << sum.describe();
  round(10, many, false);
  EXPECT_TRUE(keeps(sum)) << sum.describe();
}

/// Three stretches of 470 KiB each fit into their threads' caches; one copy of as many blocks would not.
TEST(SparseWays, AreOfCopiesThatFitIntoTheCacheOfTheirThread) {
  std::size_t const stretch = 60'000;
  sparse_reducer<double> sum(std::size_t{1} << 21);
  for (std::uint32_t t = 0; t < 3; ++t) {
    auto const mine = sum.local(t);
    for (int time = 0; time < 2; ++time)
      for (std::size_t i = 0; i < stretch; i += 2) mine[t * stretch + i] += 1;
  }
  std::vector<double> got(sum.size());
  sum.combine_into(got);
  EXPECT_FALSE(keeps(sum)) << sum.describe();
}

TEST(SparseWays, AreCopiesWhereTheyAreShort) {
  EXPECT_FALSE(keeps(sparse_reducer<double>(60'000)));
  EXPECT_TRUE(keeps(sparse_reducer<double>(70'000)));
  EXPECT_TRUE(keeps(sparse_reducer<double>(10, {.by = way::partition})));
  EXPECT_FALSE(keeps(sparse_reducer<double>(70'000, {.by = way::private_copies})));
  EXPECT_FALSE(keeps(sparse_reducer<double>(70'000, {.most_bytes = 1 << 20})));
  EXPECT_FALSE(keeps(sparse_reducer<double, reproducible_plus>(70'000)));
}

TEST(SparseWays, AreRefusedThatItDoesNotHave) {
  using large = std::array<double, 40>;
  auto const first = [](large const& a, large const&) { return a; };
  using of_large = sparse_reducer<large, decltype(first)>;
  EXPECT_THROW(sparse_reducer<int>(10, {.by = way::atomics}), argument_error);
  EXPECT_THROW((sparse_reducer<double, reproducible_plus>(10, {.by = way::partition})), argument_error);
  EXPECT_THROW(of_large(10, first, large{}, {.by = way::partition}), argument_error);
  of_large has_copies(100'000, first, large{});
  has_copies.local()[5].reduce(large{});
  EXPECT_FALSE(keeps(has_copies));
}

TEST(SparseSpans, ShowWhatWasKeptAndFixCopies) {
  for (way const by : {way::chosen, way::partition}) {
    sparse_reducer<int> sum(length, {.by = by});
    auto const mine = sum.local(0), other = sum.local(1);
    mine[100] += 1;
    other[100] += 10;
    auto const seen = mine.span(90, 20);
    EXPECT_EQ(seen[10], 1);
    mine[100] += 2;
    EXPECT_EQ(seen[10], 3) << "from now on it is plain memory";
    seen[11] = 7;
    other[101] += 10;
    EXPECT_TRUE(keeps(sum)) << "the other thread, in this round";
    std::vector<int> got(length, 5);
    sum.combine_into(got);
    EXPECT_EQ(got[100], 5 + 13);
    EXPECT_EQ(got[101], 5 + 17);
    EXPECT_EQ(std::count(got.begin(), got.end(), 5), static_cast<std::ptrdiff_t>(length - 2));
    EXPECT_FALSE(keeps(sum)) << sum.describe();
    other[3] += 1;
    sum.local(1)[3] += 1;
    EXPECT_EQ(sum.view()[3], 2);
  }
}

/// More than a quarter of the array's bytes for each thread: part of it comes to copies, always the same part.
TEST(KeptUpdates, OfMoreThanAQuarterComeToCopiesInTheSameOrder) {
  std::size_t const n = 100'000;
  auto const updates = uneven_updates(1'000'000, n, test::seed());
  std::optional<std::vector<double>> before;
  for (int run = 0; run < 2; ++run) {
    sparse_reducer<double, plus> sum(n, {.by = way::partition});
    std::vector<double> got(n, 0.5), about(n, 0.5);
    for (int round = 0; round < 2; ++round) {
      apply(about, updates, plus{});
      reduce_stretches(sum, updates, 3);
      sum.combine_into(got);
    }
    for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(got[i], about[i], 1e-9);
    if (before) {
      EXPECT_EQ(*before, got);
    }
    before = got;
  }
}

/// What is kept under a limit comes to the total, block by block, and nothing is lost.
TEST(KeptUpdates, UnderALimitAreAppliedEarly) {
  std::size_t const limit = std::size_t{32} << 20;
  for (int const identity : {0, 1}) {
    auto const op = [identity](int a, int b) { return identity == 0 ? a + b : a * b; };
    sparse_reducer<int, decltype(op)> all(1 << 21, op, identity, {.most_bytes = limit});
    ASSERT_TRUE(keeps(all));
    std::vector<int> got(all.size(), 3), expected = got;
    for (int round = 0; round < 2; ++round) {
      std::vector<update<int>> updates(5'000'000);
      std::mt19937_64 random(test::seed());
      for (auto& one : updates) one = {random() % all.size(), random() % 2 == 0 ? 1 : -1};
      apply(expected, updates, op);
      reduce_stretches(all, updates, 2);
      all.combine_into(got);
      ASSERT_EQ(got, expected);
    }
    EXPECT_EQ(all.describe().find("folded early 0 times"), std::string::npos) << all.describe();
  }
}

TEST(KeptUpdates, OfThreadsThatEndAreTakenOver) {
  sparse_reducer<int> sum(length, {.by = way::partition});
  for (int k = 0; k < 5; ++k) on_threads(1, [&](std::uint32_t) { sum.local()[9] += 1; });
  EXPECT_NE(sum.describe().find(": 1 private copies"), std::string::npos) << sum.describe();
  EXPECT_EQ(sum.view()[9], 5);
}

TEST(KeptUpdates, AreForgottenWhenReset) {
  sparse_reducer<int> sum(length, {.by = way::partition});
  sum.local()[9] += 1;
  std::vector<int> got(length);
  sum.combine_part(got, 0, 3);
  sum.reset();
  sum.local()[10] += 1;
  EXPECT_EQ(sum.view()[9], 0);
  EXPECT_EQ(sum.view()[10], 1);
}

TEST(KeptUpdates, WhoseOperationThrowsDoSoWhenTheyAreCombined) {
  bool throwing = true;
  auto const add = [&throwing](int a, int b) {
    if (throwing) throw std::runtime_error("no");
    return a + b;
  };
  sparse_reducer<int, decltype(add)> sum(length, add, 0, {.by = way::partition});
  std::vector<int> got(length);
  sum.local()[3].reduce(1);
  EXPECT_THROW(sum.combine_into(got), std::runtime_error);
  throwing = false;
  sum.reset();
  got.assign(length, 0);
  sum.local()[3].reduce(5);
  sum.combine_into(got);
  EXPECT_EQ(got[3], 5);
}

/// By ranks, whose numbers are those of their copies.
TEST(KeptUpdates, OfRanksAreCombinedTogether) {
  team three({.ranks = 3, .place = placement::unbound});
  sparse_reducer<double> sum(length, {.by = way::partition});
  auto const updates = uneven_updates(30'000, length, test::seed());
  std::vector<double> expected(length, 0.1), got = expected;
  three.run([&](member& me) {
    for (int round = 0; round < 3; ++round) {
      auto const mine = sum.local(me);
      for (std::size_t i = updates.size() * me.rank() / 3; i < updates.size() * (me.rank() + 1) / 3; ++i)
        mine[updates[i].index] += updates[i].value;
      sum.combine_into(got, me);
    }
  });
  for (int round = 0; round < 3; ++round) apply(expected, updates, plus{});
  EXPECT_EQ(got, expected);
}

}  // namespace
}  // namespace coset::reducer_test
