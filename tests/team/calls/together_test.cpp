// SPDX-License-Identifier: Apache-2.0
// Several arrays and values in one allreduce: each of its own length, type and operation, one operation among the ranks.
#include <array>
#include <complex>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/teams.hpp"

namespace coset::team_test {
namespace {

/// x ↦ scale · x + shift, with wrapping numbers: composition keeps the order of the ranks or is found out.
struct affine {
  std::uint32_t scale, shift;
  friend bool operator==(affine const&, affine const&) = default;
};
constexpr auto composed = [](affine const& f, affine const& g) {
  return affine{f.scale * g.scale, f.scale * g.shift + f.shift};
};
affine of_rank(rank_t r) { return {2 * r + 3, r + 1}; }

/// Arrays and values of one rank, of which it is known what they become.
struct bundle {
  std::vector<double> sums;
  std::vector<std::int8_t> tops;
  std::vector<float16> halves;
  std::complex<float> number;
  std::vector<affine> maps;
  located<int> least;

  bundle(rank_t rank, std::size_t count, std::size_t other)
      : sums(count), tops(other), halves(other), number(1.0f, static_cast<float>(rank)), maps(count / 3) {
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = static_cast<double>(i * 10 + rank);
    for (std::size_t i = 0; i < tops.size(); ++i) tops[i] = static_cast<std::int8_t>((i + rank) % 100);
    for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = float16(static_cast<float>((i + rank) % 32));
    for (std::size_t i = 0; i < maps.size(); ++i) maps[i] = of_rank(rank + static_cast<rank_t>(i));
    least = {100 - static_cast<int>(rank), static_cast<std::int64_t>(rank)};
  }

  auto together() {
    return coset::together(sums, into(tops, maximum{}), std::span(halves), number, into(maps, noncommutative(composed)),
                           into(least, minimum_location{}));
  }

  /// What differs from the reduction of such bundles of all ranks.
  std::string fault(rank_t ranks, std::size_t count, std::size_t other) const {
    bundle expected(0, count, other);
    for (rank_t r = 1; r < ranks; ++r) {
      bundle const next(r, count, other);
      for (std::size_t i = 0; i < sums.size(); ++i) expected.sums[i] += next.sums[i];
      for (std::size_t i = 0; i < tops.size(); ++i) expected.tops[i] = std::max(expected.tops[i], next.tops[i]);
      for (std::size_t i = 0; i < halves.size(); ++i) expected.halves[i] = float16(expected.halves[i] + next.halves[i]);
      expected.number += next.number;
      for (std::size_t i = 0; i < maps.size(); ++i) expected.maps[i] = composed(expected.maps[i], next.maps[i]);
      expected.least = minimum_location{}(expected.least, next.least);
    }
    if (sums != expected.sums) return "sums";
    if (tops != expected.tops) return "maxima";
    for (std::size_t i = 0; i < halves.size(); ++i)
      if (float(halves[i]) != float(expected.halves[i])) return "sums of 16-bit floats";
    if (number != expected.number) return "the complex number";
    if (maps != expected.maps) return "maps";
    return least == expected.least ? "" : "the least value";
  }
};

using lengths = std::pair<std::size_t, std::size_t>;
std::vector<lengths> const shapes{{0, 0},   {1, 1},    {3, 0},    {7, 30},        {0, 300},
                                  {500, 9}, {511, 17}, {4000, 5}, {60'000, 9'000}};

/// 17 and more are more than a fold takes in one pass.
std::vector<rank_t> const sizes =
    test::by_effort<std::vector<rank_t>>({1, 2, 3, 17}, {1, 2, 3, 6, 17}, {1, 2, 3, 5, 6, 7, 8, 16, 17, 33});

class Together : public ::testing::TestWithParam<rank_t> {};

TEST_P(Together, EveryPartIsReducedByItsOwnOperation) {
  team ranks(options_for(GetParam()));
  for (auto const& [count, other] : shapes) {
    for (int call = 0; call < 3; ++call) {
      std::vector<std::string> faults(ranks.size());
      ranks.run([&, count = count, other = other](member& me) {
        bundle mine(me.rank(), count, other);
        allreduce(me, mine.together());
        faults[me.rank()] = mine.fault(me.size(), count, other);
      });
      EXPECT_EQ(faults, std::vector<std::string>(ranks.size())) << count << " and " << other;
    }
  }
}

/// Whichever call makes the progress, the arrays have the result once the request is complete, and none before.
TEST_P(Together, StartedCallsDeliverWhenTheyAreComplete) {
  team ranks(options_for(GetParam()));
  for (auto const& [count, other] : shapes) {
    std::vector<std::string> faults(ranks.size());
    ranks.run([&, count = count, other = other](member& me) {
      bundle first(me.rank(), count, other), second(me.rank(), other, count);
      std::array requests{start_allreduce(me, first.together()), start_allreduce(me, second.together())};
      barrier(me);
      requests[1].wait();
      faults[me.rank()] = second.fault(me.size(), other, count);
      while (!requests[0].test()) continue;
      faults[me.rank()] += first.fault(me.size(), count, other);
    });
    EXPECT_EQ(faults, std::vector<std::string>(ranks.size())) << count << " and " << other;
  }
}

TEST_P(Together, PlansOfEveryAlgorithmThatKeepsTheOrderAreRight) {
  team ranks(options_for(GetParam()));
  for (std::string const algorithm : {"auto", "direct", "recursive_doubling"}) {
    for (auto const& [count, other] : {lengths{3, 2}, lengths{5000, 70}}) {
      bundle shape(0, count, other);
      std::unique_ptr<decltype(joint_plan(ranks, shape.together()))> plan;
      try {
        plan.reset(new joint_plan(ranks, shape.together(), plus{}, {.algorithm = algorithm}));
      } catch (schedule_error const&) {
        continue;  // not of so many ranks, or not in their order
      }
      std::vector<std::string> faults(ranks.size());
      ranks.run([&, count = count, other = other](member& me) {
        bundle mine(me.rank(), count, other);
        plan->execute(me, mine.together());
        faults[me.rank()] = mine.fault(me.size(), count, other);
      });
      EXPECT_EQ(faults, std::vector<std::string>(ranks.size())) << algorithm << ": " << plan->describe();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Together, ::testing::ValuesIn(sizes), size_name);

TEST(Joined, OneOperationServesAllThatHaveNone) {
  team ranks(options_for(3));
  ranks.run([](member& me) {
    auto const rank = static_cast<int>(me.rank());
    std::array<int, 3> low{rank, 10 - rank, 5};
    double value = rank, sum = rank;
    allreduce(me, together(low, value, into(sum)), minimum{});
    EXPECT_EQ(low, (std::array{0, 8, 5}));
    EXPECT_EQ(value, 0);
    EXPECT_EQ(sum, 3);
  });
}

/// Words one behind the other are packed in another way than values that lie anyhow; ranks may differ in that, and in which of them
/// lie side by side to be folded at once.
TEST(Joined, ValuesMayLieOtherwiseOnEachRank) {
  team ranks(options_for(3));
  ranks.run([](member& me) {
    for (int again = 0; again < 4; ++again) {
      auto const rank = static_cast<double>(me.rank());
      std::array<double, 4> at{};
      bool const in_order = me.rank() == 0, backwards = me.rank() == 1;
      auto const place = [&](std::size_t k) { return in_order ? k : backwards ? 3 - k : (k * 3 + 1) % 4; };
      double &a = at[place(0)], &b = at[place(1)], &c = at[place(2)], &d = at[place(3)];
      std::int64_t most = 10 - static_cast<std::int64_t>(me.rank());
      a = rank, b = 10 * rank, c = 100 * rank, d = 1000 * rank;
      allreduce(me, together(a, b, into(c, maximum{}), d, into(most, maximum{})));
      EXPECT_EQ(a, 3);
      EXPECT_EQ(b, 30);
      EXPECT_EQ(c, 200);
      EXPECT_EQ(d, 3000);
      EXPECT_EQ(most, 10);
    }
  });
}

/// Bits, for sums that are rounded: those of calls of their own, where there is one bracketing.
TEST(Joined, SumsThatAreRoundedOnceAreAsInCallsOfTheirOwn) {
  team ranks(options_for(5));
  ranks.run([](member& me) {
    std::vector<bfloat16> together_sums(100), alone_sums(100);
    std::vector<double> together_exact(1000), alone_exact(1000);
    for (std::size_t i = 0; i < 100; ++i)
      together_sums[i] = alone_sums[i] = bfloat16(1.0f + static_cast<float>(me.rank()) / 128);
    for (std::size_t i = 0; i < 1000; ++i)
      together_exact[i] = alone_exact[i] = (me.rank() == 2 ? -1e17 : 1e17) / static_cast<double>(3 + i + me.rank());
    allreduce(me, together(together_sums, into(together_exact, reproducible_plus{})));
    allreduce(me, alone_sums);
    allreduce(me, alone_exact, reproducible_plus{});
    EXPECT_EQ(std::memcmp(together_sums.data(), alone_sums.data(), sizeof(bfloat16) * 100), 0);
    EXPECT_EQ(together_exact, alone_exact);
  });
}

template <class Odd, class Usual>
void expect_mismatch(std::vector<std::string> const& words, Odd odd, Usual usual) {
  team ranks(options_for(3));
  for (rank_t const other : {0u, 2u}) {
    expect_everybody_threw<mismatch_error>(
        outcomes(ranks, [&](member& me) { me.rank() == other ? odd(me) : usual(me); }), words);
    expect_works(ranks);
  }
}

TEST(Joined, RanksThatDisagreeInAnythingAllHearOfIt) {
  auto const call = [](std::size_t a, std::size_t b) {
    return [a, b](member& me) {
      std::vector<double> one(a);
      std::vector<float> other(b);
      allreduce(me, together(one, other));
    };
  };
  expect_mismatch({"[3, 1]", "[1, 3]", "rows of double, float"}, call(3, 1), call(1, 3));  // rows of one size
  expect_mismatch({"[5000, 70]", "[4999, 72]"}, call(5000, 70), call(4999, 72));           // as many rows
  expect_mismatch({"[0, 0]", "[0, 1]"}, call(0, 0), call(0, 1));
  expect_mismatch({"rows of double, float", "rows of double"}, call(3, 1), [](member& me) {
    std::vector<double> one(3);
    allreduce(me, together(one));
  });
  expect_mismatch({"coset::plus, coset::plus", "coset::plus, coset::maximum"}, call(3, 1), [](member& me) {
    std::vector<double> one(3);
    float other = 0;
    allreduce(me, together(one, into(other, maximum{})));
  });
  expect_mismatch({"rows of double, float", "of 3 double"}, call(3, 1), [](member& me) {
    std::vector<double> one(3);
    allreduce(me, one);
  });
}

TEST(Joined, ArraysThatOverlapAreRefusedOnAllRanks) {
  team ranks(options_for(3));
  std::array<int, 12> shape{};
  auto const parts = [](std::array<int, 12>& of, std::size_t second, double& value) {
    return together(std::span(of).first(8), value, std::span(of).subspan(second, 4));
  };
  double value = 0;
  joint_plan const plan(ranks, parts(shape, 8, value));
  for (rank_t const wrong : {0u, 2u}) {
    for (int way = 0; way < 3; ++way) {
      auto const call = [&](member& me) {
        std::array<int, 12> array{};
        double mine = 0;
        auto const all = parts(array, me.rank() == wrong ? 7 : 8, mine);
        if (way == 0) allreduce(me, all);
        if (way == 1) start_allreduce(me, all).wait();
        if (way == 2) plan.execute(me, all);
      };
      expect_everybody_threw<argument_error>(outcomes(ranks, call), {"overlap", "32 bytes", "16 bytes"});
      expect_works(ranks);
    }
  }
}

TEST(Joined, AnOperationThatThrowsFailsOnAllRanks) {
  team ranks(options_for(3));
  auto const all = outcomes(ranks, [](member& me) {
    std::vector<int> fine(10);
    int value = static_cast<int>(me.rank());
    auto const picky = [](int a, int b) { return a + b == 3 ? throw std::runtime_error("three") : a + b; };
    allreduce(me, together(fine, into(value, picky)));
  });
  int told = 0;
  for (auto const& one : all) {
    EXPECT_NE(one.type, "");
    told += one.message.find("three") != std::string::npos ? 1 : 0;
  }
  EXPECT_GT(told, 0);
  expect_works(ranks);
}

/// The rows of the call under way stay as and where they are, though the inner calls would need more room.
template <class Call>
void expect_inner_calls_do_no_harm(Call outer) {
  team ranks(options_for(3));
  ranks.run([&](member& me) {
    int refused = 0;
    auto const calls_again = [&](int a, int b) {
      std::vector<int> more(3000, -1);
      double value = -1;
      refused += outcome_of([&] { outer(me, together(more, value)); }).type == type_name<argument_error>() ? 1 : 0;
      return a + b;
    };
    std::vector<int> sums(100, 1);
    double value = 2;
    allreduce(me, together(into(sums, calls_again), value));
    EXPECT_EQ(sums, std::vector<int>(100, 3));
    EXPECT_EQ(value, 6);
    EXPECT_GT(refused, 0);
  });
}

TEST(Joined, CallsInsideAnOperationAreRefusedAndDoNoHarm) {
  expect_inner_calls_do_no_harm([](member& me, auto const& arrays) { allreduce(me, arrays); });
  expect_inner_calls_do_no_harm([](member& me, auto const& arrays) { (void)start_allreduce(me, arrays); });
}

TEST(Joined, PlansInsideAnOperationAreRefusedAndDoNoHarm) {
  team other(options_for(1));
  std::vector<int> shape(3000);
  double value = 0;
  joint_plan const plan(other, together(shape, value));
  expect_inner_calls_do_no_harm([&](member& me, auto const& arrays) { plan.execute(me, arrays); });
}

TEST(Joined, APlanRefusesOtherLengthsOnAllRanks) {
  team ranks(options_for(2));
  std::vector<int> shape(3);
  joint_plan const plan(ranks, together(shape));
  expect_everybody_threw<argument_error>(outcomes(ranks,
                                                  [&](member& me) {
                                                    std::vector<int> mine(me.rank() == 1 ? 4 : 3);
                                                    plan.execute(me, together(mine));
                                                  }),
                                         {"[4]", "[3]"});
  EXPECT_THROW(joint_plan(ranks, together(shape), plus{}, {.algorithm = "no_such"}), schedule_error);
}

TEST(Joined, GivingUpAStartedCallAbortsAndWritesNothing) {
  team ranks(options_for(2));
  std::vector<int> values(2, 1);
  auto const all = outcomes(ranks, [&](member& me) {
    int& mine = values[me.rank()];
    if (me.rank() == 0) {
      (void)start_allreduce(me, together(mine));
    } else {
      barrier(me);
    }
  });
  EXPECT_NE(all[1].type, "");
  EXPECT_EQ(values, std::vector<int>(2, 1));
  expect_works(ranks);
}

}  // namespace
}  // namespace coset::team_test
