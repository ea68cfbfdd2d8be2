// SPDX-License-Identifier: Apache-2.0
// Reducers give what a loop over all updates gives, for every type, operation, number of threads and spread.
#include "coset/reducers/sparse_reducer.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <complex>
#include <cstring>
#include <limits>
#include <numeric>
#include <tuple>

#include "coset/reducers/joint_reducer.hpp"
#include "reducer/updates.hpp"

namespace coset::reducer_test {
namespace {

static_assert(!has_identity<minimum, std::complex<float>> && has_identity<plus, std::complex<float>>);
static_assert(identity_of<int, bit_and>() == -1 && identity_of<bool, logical_and>());
static_assert(identity_of<float, minimum>() == std::numeric_limits<float>::infinity());
static_assert(identity_of<unsigned, maximum>() == 0 && identity_of<short, exact<minimum>>() == 32767);

template <class Pair>
class Differential : public ::testing::Test {};

template <class T, class Op>
struct combination {
  using type = T;
  using operation = Op;
};
using every_combination =
    ::testing::Types<combination<float, plus>, combination<double, plus>, combination<double, multiplies>,
                     combination<std::int8_t, plus>, combination<std::uint64_t, plus>, combination<int, minimum>,
                     combination<float, minimum>, combination<double, maximum>, combination<std::uint16_t, maximum>,
                     combination<std::uint32_t, bit_and>, combination<std::int64_t, bit_or>, combination<int, bit_xor>,
                     combination<std::uint8_t, logical_and>, combination<int, logical_or>,
                     combination<int, logical_xor>, combination<float16, plus>, combination<bfloat16, maximum>,
                     combination<std::complex<double>, plus>, combination<double, reproducible_plus>>;
using some_combinations =
    ::testing::Types<combination<double, plus>, combination<std::int8_t, plus>, combination<float, minimum>,
                     combination<std::uint16_t, maximum>, combination<std::int64_t, bit_or>,
                     combination<int, logical_xor>, combination<float16, plus>, combination<std::complex<double>, plus>,
                     combination<double, reproducible_plus>>;
using combinations = test::types<every_combination, some_combinations>;
TYPED_TEST_SUITE(Differential, combinations);

TYPED_TEST(Differential, EqualsALoopOverAllUpdates) {
  using T = typename TypeParam::type;
  using Op = typename TypeParam::operation;
  std::uint64_t seed = test::seed();
  using sizes = std::vector<std::size_t>;
  sizes const few = {1, 20'001}, all = {1, 7, 256, 4097, 70'001};
  for (std::size_t const elements : test::by_effort(few, all, all))
    for (std::uint32_t const threads : {1u, 2u, 5u})
      for (spread const where : {spread::dense, spread::sparse})
        for (std::size_t const block_bytes : {0ul, 64ul, 4096ul}) {
          auto const updates =
              random_updates<T, Op>(elements, std::min<std::size_t>(elements * 2, 9'000), where, ++seed);
          auto const check = [&](auto sum) {
            std::vector<T> expected(elements, detail::number<T>(1)), got = expected;
            for (int round = 0; round < 3; ++round) {
              auto const how = round == 1 ? combining::assign : combining::add;
              if (how == combining::assign) expected.assign(elements, identity_of<T, Op>());
              apply(expected, updates, Op{});
              on_threads(threads, [&](std::uint32_t t) { apply(sum.local(), updates, t, threads, Op{}); });
              if (round == 2) {
                for (std::uint32_t part = threads; part-- > 0;) sum.combine_part(got, part, threads, how);
              } else {
                sum.combine_into(got, how);
              }
            }
            ASSERT_EQ(std::memcmp(got.data(), expected.data(), elements * sizeof(T)), 0)
                << elements << " elements, " << threads << " threads, blocks of " << block_bytes << ", seed " << seed;
          };
          if (block_bytes == 0) check(reducer<T, Op>(elements));
          check(sparse_reducer<T, Op>(elements, sparse_options{.block_bytes = block_bytes}));
          if constexpr (detail::update_code_of<T, Op>().apply_part != nullptr)
            check(sparse_reducer<T, Op>(elements, {.block_bytes = block_bytes, .by = way::partition}));
        }
}

TEST(Reducer, GivesAnEmptyArrayOfNothing) {
  reducer<double> sum(0);
  EXPECT_TRUE(sum.local().empty());
  sum.combine_into({});
  EXPECT_TRUE(sum.view().empty());
}

TEST(Reducer, LeavesElementsAloneThatNobodyTouched) {
  float const odd = std::bit_cast<float>(0x7fa12345u);  // a signalling NaN: any fold would quieten it
  std::vector<float> got(10'000, odd);
  sparse_reducer<float> sum(got.size(), {.block_bytes = 512});
  sum.local()[5000] += 1;
  sum.combine_into(got);
  std::uint32_t changed = 0;
  for (float const& one : got) changed += std::bit_cast<std::uint32_t>(one) != 0x7fa12345u ? 1 : 0;
  EXPECT_GT(changed, 0u);
  EXPECT_LE(changed, 128u) << "one block of 512 bytes";
}

TEST(Reducer, CombinedByATeamGivesTheSameBitsAsAlone) {
  std::size_t const elements = 300'007;
  reducer<float> sum(elements);
  std::vector<float> alone(elements, 0.1f), by_team = alone, in_team = alone;
  auto const update = [&] {
    for (std::uint32_t number = 0; number < 3; ++number) {
      auto const mine = sum.local(number);
      for (std::size_t i = number; i < elements; i += 1 + number)
        mine[i] += 1.0f / static_cast<float>(i + 3 * number + 1);
    }
  };
  team four({.ranks = 4, .place = placement::unbound});
  update();
  sum.combine_into(alone);
  update();
  sum.combine_into(by_team, four);
  update();
  four.run([&](member& me) { sum.combine_into(in_team, me); });
  EXPECT_EQ(by_team, alone);
  EXPECT_EQ(in_team, alone);
  update();
  auto const view = sum.view(four);
  for (std::size_t i = 0; i < elements; ++i) ASSERT_NEAR(view[i] + 0.1f, alone[i], 1e-5f);
}

TEST(Reducer, IsUpdatedByRanksOfATeam) {
  reducer<long> sum(1000);
  std::vector<long> got(1000);
  team three({.ranks = 3, .place = placement::unbound});
  three.run([&](member& me) {
    for (int step = 1; step <= 4; ++step) {
      auto const mine = sum.local(me);
      for (std::size_t i = me.rank(); i < 1000; ++i) mine[i] += step;
      sum.combine_into(got, me);
      EXPECT_EQ(got[2], 3 * step * (step + 1) / 2);
      barrier(me);
    }
  });
}

TEST(Reducer, ViewsGrowUntilReset) {
  reducer<int> sum(5000);
  EXPECT_EQ(sum.view()[17], 0);
  for (int round = 1; round <= 3; ++round) {
    on_threads(3, [&](std::uint32_t t) { sum.local()[1000 * t] += 1; });
    auto const view = sum.view();
    EXPECT_EQ(view[0], round);
    EXPECT_EQ(view[2000], round);
    EXPECT_EQ(std::accumulate(view.begin(), view.end(), 0), 3 * round);
  }
  sum.reset();
  sum.local()[1] = 7;
  auto const view = sum.view();
  EXPECT_EQ(std::accumulate(view.begin(), view.end(), 0), 7);
  std::vector<int> into(5000, 1);
  sum.combine_into(into);
  EXPECT_EQ(into[1], 8);
  EXPECT_EQ(into[2], 1);
  EXPECT_EQ(sum.view()[1], 0) << "handed over";
}

TEST(Reducer, ForgetsWhatWasReducedWhenReset) {
  reducer<int, minimum> least(3000);
  least.local()[7] = -5;
  least.local(3)[8] = -5;
  least.reset();
  std::vector<int> got(3000, 9);
  least.local()[7] = 4;
  least.combine_into(got);
  EXPECT_EQ(got[7], 4);
  EXPECT_EQ(got[8], 9);
}

template <class Op>
void reduce(std::span<int> mine, std::size_t at, Op op, int value) {
  mine[at] = op(mine[at], value);
}
template <class Op>
void reduce(sparse_array<int, Op> mine, std::size_t at, Op, int value) {
  mine[at].reduce(value);
}

/// Blocks far apart and side by side, of every kind of tracking: red if only the last run of touched blocks is emptied.
TEST(Reducer, ForgetsEveryBlockWhenReset) {
  std::vector<std::size_t> const places{0, 1, 70, 3000, 3001, 3040, 9998, 9999};
  auto const forgets = [&](auto op, int identity, auto sum) {
    auto const mine = sum.local();
    for (std::size_t const at : places) reduce(mine, at, op, 55);
    sum.reset();
    std::vector<int> got(10'000, identity), expected = got;
    auto const again = sum.local();
    for (std::size_t const at : places) {
      if (at % 2 == 0) reduce(again, at, op, 7);
      if (at % 2 == 0) expected[at] = 7;
    }
    sum.combine_into(got);
    EXPECT_EQ(got, expected) << sum.describe();
  };
  auto const check = [&]<class Op>(Op op, int identity, sparse_options const& options) {
    forgets(op, identity, reducer<int, Op>(10'000, op, identity));
    forgets(op, identity, sparse_reducer<int, Op>(10'000, op, identity, options));
  };
  for (std::size_t const block_bytes : {0u, 64u, 4096u})
    for (std::size_t const most_bytes : {0u, 1u << 20}) {
      sparse_options const options{.block_bytes = block_bytes, .most_bytes = most_bytes};
      check([](int a, int b) { return a + b; }, 0, options);
      check([](int a, int b) { return a * b; }, 1, options);
    }
}

TEST(Reducer, SpansTouchTheirBlocksAndNoOthers) {
  sparse_reducer<double, multiplies> product(10'000, {.block_bytes = 64});
  auto const mine = product.local();
  auto const part = mine.span(100, 300);
  EXPECT_EQ(part.size(), 300u);
  EXPECT_EQ(&part[0], mine.span(100, 1).data());
  EXPECT_EQ(std::count(part.begin(), part.end(), 1.0), 300);
  std::fill(part.begin(), part.end(), 2.0);
  EXPECT_EQ(mine.span(200, 1)[0], 2.0) << "filled once";
  std::vector<double> got(10'000, 3);
  product.combine_into(got);
  EXPECT_EQ(std::count(got.begin(), got.end(), 6.0), 300);
  EXPECT_EQ(std::count(got.begin(), got.end(), 3.0), 9'700);
}

struct force {
  double x, y, z;
  friend bool operator==(force const&, force const&) = default;
};

TEST(Reducer, TakesOperationsAndIdentitiesOfYourOwn) {
  auto const add = [](force const& a, force const& b) { return force{a.x + b.x, a.y + b.y, a.z + b.z}; };
  reducer<force, decltype(add)> forces(777, add, force{0, 0, 0});
  std::vector<force> got(777, force{1, 2, 3});
  on_threads(4, [&](std::uint32_t) {
    auto const mine = forces.local();
    for (std::size_t i = 0; i < 777; i += 2) mine[i] = add(mine[i], force{1, 1, 1});
  });
  forces.combine_into(got);
  EXPECT_EQ(got[776], (force{5, 6, 7}));
  EXPECT_EQ(got[1], (force{1, 2, 3}));
}

TEST(Reducer, LocatesExtremes) {
  using best = located<double>;
  reducer<best, minimum_location> least(3);
  on_threads(3, [&](std::uint32_t t) {
    auto const mine = least.local();
    for (std::size_t i = 0; i < 3; ++i) mine[i] = minimum_location{}(mine[i], best{double(i == t ? -1 : 1), t});
  });
  auto const view = least.view();
  for (std::int64_t i = 0; i < 3; ++i) EXPECT_EQ(view[static_cast<std::size_t>(i)], (best{-1, i}));
}

TEST(Reducer, RefusesArraysOfAnotherLengthNamingBoth) {
  reducer<int> sum(10);
  std::vector<int> wrong(11);
  try {
    sum.combine_into(wrong);
    FAIL();
  } catch (argument_error const& refused) {
    EXPECT_NE(std::string(refused.what()).find("10"), std::string::npos);
    EXPECT_NE(std::string(refused.what()).find("11"), std::string::npos);
  }
  EXPECT_THROW(reducer<double>(std::numeric_limits<std::size_t>::max() / 4), argument_error);
}

TEST(Reducer, ServesAgainAfterAnOperationThrewAndItWasReset) {
  bool throwing = true;
  auto const add = [&throwing](int a, int b) {
    if (throwing) throw std::runtime_error("no");
    return a + b;
  };
  reducer<int, decltype(add)> sum(100, add, 0);
  std::vector<int> got(100);
  sum.local()[3] = 1;
  EXPECT_THROW(sum.combine_into(got), std::runtime_error);
  team two({.ranks = 2, .place = placement::unbound});
  EXPECT_THROW(two.run([&](member& me) { sum.combine_into(got, me); }), std::runtime_error);
  throwing = false;
  sum.reset();
  got.assign(100, 0);
  sum.local()[3] = 5;
  sum.combine_into(got);
  EXPECT_EQ(got[3], 5);
}

TEST(Reducer, SaysWhatItIs) {
  sparse_reducer<float> sum(1000, {.block_bytes = 100});
  sum.local();
  sum.local(4);
  EXPECT_EQ(sum.describe(), "reducer of 1000 float, coset::plus: 2 private copies in blocks of 64 bytes");
  reducer<float> dense(1000);
  EXPECT_EQ(dense.describe(), "reducer of 1000 float, coset::plus: 0 private copies that are folded whole");
}

/// What it says where plans are logged.
template <class Reducer>
std::string said_when_made(std::size_t count) {
  testing::internal::CaptureStderr();
  Reducer const made(count);
  return testing::internal::GetCapturedStderr();
}

TEST(ReducerDeathTest, SaysWhenAWholeLoopWouldCostLess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto const program = [] {
    setenv("COSET_LOG", "plan", 1);
    bool const of_short =
        said_when_made<reducer<double>>(1000).find("fewer updates than elements") != std::string::npos;
    bool const of_long = said_when_made<reducer<double>>(1 << 20).find("ten updates per element") != std::string::npos;
    bool const of_sparse = said_when_made<sparse_reducer<double>>(1000).find("scatter_add") != std::string::npos;
    std::exit(of_short && of_long && !of_sparse ? 10 : 11);
  };
  EXPECT_EXIT(program(), testing::ExitedWithCode(10), "");
}

}  // namespace
}  // namespace coset::reducer_test
