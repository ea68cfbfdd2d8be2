// SPDX-License-Identifier: Apache-2.0
// Many collectives one after the other, and everything an operation or an element may be.
#include <array>
#include <complex>
#include <random>

#include "support/reductions.hpp"
#include "support/teams.hpp"

namespace coset::team_test {
namespace {

class Sequences : public ::testing::TestWithParam<rank_t> {};

/// Sums of whole numbers: rank r contributes r + seed + i to element i.
std::int64_t expected_sum(rank_t ranks, std::int64_t seed, std::size_t i) {
  return std::int64_t{ranks} * (std::int64_t{ranks} - 1) / 2 +
         std::int64_t{ranks} * (seed + static_cast<std::int64_t>(i));
}

/// One collective of a random kind and size, the same on every rank. False if its result is wrong.
bool one_of_many(member& me, std::mt19937& choices, plan<std::int64_t> const& persistent, std::int64_t seed) {
  constexpr std::array<std::size_t, 10> counts{0, 1, 2, 5, 8, 17, 100, 300, 2000, 9000};
  std::size_t count = counts[choices() % counts.size()];
  auto const kind = choices() % 5;
  if (kind == 0) return barrier(me), true;
  if (kind == 1) return allreduce(me, std::int64_t{me.rank()} + seed) == expected_sum(me.size(), seed, 0);
  if (kind == 2) count = persistent.count();
  std::vector<std::int64_t> in(count), out(count, -1);
  for (std::size_t i = 0; i < count; ++i) in[i] = std::int64_t{me.rank()} + seed + static_cast<std::int64_t>(i);
  if (kind == 2) persistent.execute(me, in, out);
  if (kind == 3) allreduce(me, in, out);
  if (kind == 4) allreduce(me, in), out = in;
  for (std::size_t i = 0; i < count; ++i) {
    if (out[i] != expected_sum(me.size(), seed, i)) return false;
  }
  return true;
}

TEST_P(Sequences, OfThousandsOfMixedCollectivesAreRight) {
  team ranks(options_for(GetParam()));
  auto const persistent = make_plan<std::int64_t>(ranks, 700, plus{}, {.storage = "zero_copy"});
  int const rounds = test::by_effort(200, 3000, 100000);
  std::atomic<int> first_wrong = rounds;
  ranks.run([&](member& me) {
    std::mt19937 choices(7);
    for (int round = 0; round < rounds; ++round) {
      if (one_of_many(me, choices, persistent, round)) continue;
      for (int seen = first_wrong; round < seen && !first_wrong.compare_exchange_weak(seen, round);) continue;
    }
  });
  EXPECT_EQ(first_wrong, rounds);
}

TEST_P(Sequences, OfManyShortRunsAreRight) {
  team ranks(options_for(GetParam()));
  int const runs = test::by_effort(50, 200, 5000);
  std::atomic<rank_t> right = 0;
  for (int seed = 0; seed < runs; ++seed) {
    ranks.run([&](member& me) {
      right += allreduce(me, std::int64_t{me.rank()} + seed) == expected_sum(me.size(), seed, 0);
    });
  }
  EXPECT_EQ(right, ranks.size() * static_cast<rank_t>(runs));
}

TEST_P(Sequences, OfMoreShapesThanAreRememberedAreRight) {
  team ranks(options_for(GetParam()));
  std::size_t const shapes = test::by_effort<std::size_t>(1100, 1500, 3000);
  std::atomic<std::size_t> wrong = 0;
  ranks.run([&](member& me) {
    for (std::size_t count : {shapes, shapes}) {
      for (; count > 0; --count) {
        std::vector<std::int64_t> items(count, me.rank());
        allreduce(me, items);
        wrong += items.back() != expected_sum(me.size(), 0, 0);
      }
    }
  });
  EXPECT_EQ(wrong, 0u);
}

TEST_P(Sequences, OfBarriersLetNobodyLeaveBeforeAllHaveCome) {
  team ranks(options_for(GetParam()));
  int const rounds = test::by_effort(100, 1000, 10000);
  std::vector<int> written(ranks.size(), -1);  // not atomic: barriers order them
  std::atomic<int> late = 0;
  ranks.run([&](member& me) {
    for (int round = 0; round < rounds; ++round) {
      written[me.rank()] = round;
      barrier(me);
      late += static_cast<int>(std::count(written.begin(), written.end(), round)) != static_cast<int>(me.size());
      barrier(me);
    }
  });
  EXPECT_EQ(late, 0);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Sequences, ::testing::Values(1, 2, 3, 4, 7, 9, 12), size_name);

TEST(Sequence, WithRoomReservedAheadIsRight) {
  team ranks(options_for(3));
  ranks.reserve(3'000'000);
  expect_works(ranks);
  ranks.reserve(10);
  expect_works(ranks);
  check_reduction<double, plus>(ranks, {100'000, false, false}, 1,
                                [](member& me, auto in, auto out) { allreduce(me, in, out); });
}

class Waiting : public ::testing::TestWithParam<waiting> {};

TEST_P(Waiting, OfAnyKindServesManyCollectives) {
  rank_t const cores = topology::machine().cores();
  team ranks(options_for(GetParam() == waiting::spin ? std::min<rank_t>(cores, 3) : 5, GetParam()));
  for (int round = 0; round < 20; ++round) expect_works(ranks);
  std::atomic<int> wrong = 0;
  ranks.run([&](member& me) {
    for (int round = 0; round < test::by_effort(100, 1000, 10000); ++round) {
      wrong += allreduce(me, std::int64_t{me.rank()} + round) != expected_sum(me.size(), round, 0);
      barrier(me);
    }
  });
  EXPECT_EQ(wrong, 0);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Waiting,
                         ::testing::Values(waiting::automatic, waiting::spin, waiting::yield, waiting::block));

struct moments {
  double sum = 0;
  std::int32_t number = 0;
  friend bool operator==(moments const&, moments const&) = default;
};

/// Every rank reduces; `expected` on all of them.
template <class T, class Op>
void expect_everywhere(std::vector<T> const& expected, Op op, std::function<std::vector<T>(rank_t)> const& input) {
  for (rank_t const p : {1u, 2u, 5u, 12u}) {
    team ranks(options_for(p));
    std::vector<std::vector<T>> results(p);
    ranks.run([&](member& me) {
      results[me.rank()] = input(me.rank() % 2);
      allreduce(me, results[me.rank()], op);
    });
    for (auto const& result : results) EXPECT_EQ(result, p == 2 ? expected : results[0]) << p << " ranks";
  }
}

TEST(Operation, MayBeALambdaOnAStruct) {
  auto const join = [](moments const& a, moments const& b) { return moments{a.sum + b.sum, a.number + b.number}; };
  expect_everywhere<moments>(std::vector<moments>(300, {3.0, 2}), join, [](rank_t r) {
    return std::vector<moments>(300, {1.0 + r, 1});
  });
}

TEST(Operation, MayCarryState) {
  int modulus = 7;
  expect_everywhere<int>(
      std::vector<int>(9, 5 * 6 % 7), [modulus](int a, int b) { return a * b % modulus; },
      [](rank_t r) { return std::vector<int>(9, 5 + static_cast<int>(r)); });
}

TEST(Operation, MayBeBuiltInOnAnyElementThatHasIt) {
  using complex = std::complex<double>;
  expect_everywhere<complex>(std::vector<complex>(5, {3, 1}), plus{}, [](rank_t r) {
    return std::vector<complex>(5, {1.0 + r, double(r)});
  });
  expect_everywhere<std::uint8_t>(std::vector<std::uint8_t>(1001, 44), plus{},
                                  [](rank_t r) { return std::vector<std::uint8_t>(1001, r == 0 ? 200 : 100); });
}

TEST(Operation, MayActOnArraysAsElements) {
  using triple = std::array<float, 3>;
  auto const add = [](triple a, triple const& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
    return a;
  };
  expect_everywhere<triple>(std::vector<triple>(2000, {1, 3, 5}), add, [](rank_t r) {
    return std::vector<triple>(2000, {float(r), float(1 + r), float(2 + r)});
  });
}

TEST(Operation, OnOneValueReturnsIt) {
  team ranks(options_for(4));
  std::atomic<int> right = 0;
  ranks.run([&](member& me) {
    right += allreduce(me, 1.5) == 6.0;
    right += allreduce(me, static_cast<int>(me.rank()), maximum{}) == 3;
    right += allreduce(me, moments{1, 2}, [](moments a, moments b) {
               return moments{a.sum + b.sum, a.number + b.number};
             }) == moments{4, 8};
  });
  EXPECT_EQ(right, 12);
}

}  // namespace
}  // namespace coset::team_test
