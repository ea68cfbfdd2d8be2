// SPDX-License-Identifier: Apache-2.0
// The plan that the library chooses: every count, type, operation, alignment and placing of results, on real threads.
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <memory>
#include <random>

#include "support/reductions.hpp"
#include "support/teams.hpp"

namespace coset::team_test {
namespace {

std::vector<std::size_t> const counts =
    test::by_effort<std::vector<std::size_t>>({0, 1, 3, 64, 1000, 65537}, {0, 1, 2, 3, 7, 64, 1000, 4097, 65537},
                                              {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 64, 1000, 4097, 65537, 300007});

class Allreduce : public ::testing::TestWithParam<rank_t> {};

TEST_P(Allreduce, IsRightAndTheSameEverywhereForAnyCountTypeOperationAndAlignment) {
  team ranks(options_for(GetParam()));
  std::size_t const stride = test::by_effort<std::size_t>(5, 3, 1);  // prime to the number of combinations
  std::size_t number = 0, turn = GetParam();
  for (std::size_t const count : counts) {
    for (std::size_t which = ++turn % stride; which < combinations * 4; which += stride) {
      shape const s{count, (which / combinations & 1) != 0, (which / combinations & 2) != 0};
      with_combination(which, [&]<class T, class Op>() {
        SCOPED_TRACE(
            describe(ranks.size(), s, std::string(detail::name_of<Op>()) + " " + std::string(detail::name_of<T>())));
        check_reduction<T, Op>(ranks, s, ++number, [&](member& me, std::span<T> in, std::span<T> out) {
          if (s.in_place) {
            allreduce(me, in, Op{});
          } else {
            allreduce(me, in, out, Op{});
          }
        });
      });
      if (HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Allreduce, ::testing::ValuesIn(team_sizes()), size_name);

constexpr std::size_t length = 11;
using bits_of_results = std::array<std::uint64_t, length>;

/// Arrays of many contributions, dealt to the ranks anew each time: whole arrays if there are as many as ranks, else
/// summed up locally first.
TEST(ReproducibleSums, AreTheSameForEveryNumberOfRanksAndDistributionOfTheData) {
  std::mt19937_64 random(test::seed());
  std::map<rank_t, std::unique_ptr<team>> teams;
  for (int array = 0, all = test::by_effort(100, 1000, 10'000); array < all; ++array) {
    std::vector<std::array<double, length>> contributions(1 + random() % 40);
    for (auto& c : contributions) {
      for (double& value : c) {
        auto const fraction = std::uniform_real_distribution<double>(-1, 1)(random);
        value = std::ldexp(fraction, static_cast<int>(random() % 120) - 60);
      }
    }
    std::array<bits_of_results, 3> found{};
    for (bits_of_results& result : found) {
      auto const size = static_cast<rank_t>(1 + random() % 9);
      auto& ranks = teams[size];
      if (!ranks) ranks = std::make_unique<team>(options_for(size));
      std::shuffle(contributions.begin(), contributions.end(), random);
      std::vector<rank_t> owner(contributions.size());
      for (rank_t& r : owner) r = static_cast<rank_t>(random() % size);
      ranks->run([&](member& me) {
        std::array<binned<double>, length> sums{};
        for (std::size_t k = 0; k < owner.size(); ++k) {
          if (owner[k] != me.rank()) continue;
          for (std::size_t i = 0; i < length; ++i) sums[i] += contributions[k][i];
        }
        allreduce(me, sums);
        std::array<double, length> values;
        for (std::size_t i = 0; i < length; ++i) values[i] = sums[i].value();
        if (me.rank() == me.size() - 1) result = std::bit_cast<bits_of_results>(values);
      });
    }
    // Once more with one rank for each contribution, as plain arrays.
    if (contributions.size() <= 9) {
      auto& ranks = teams[static_cast<rank_t>(contributions.size())];
      if (!ranks) ranks = std::make_unique<team>(options_for(static_cast<rank_t>(contributions.size())));
      ranks->run([&](member& me) {
        auto values = contributions[me.rank()];
        allreduce(me, values, reproducible_plus{});
        if (me.rank() == 0) found[2] = std::bit_cast<bits_of_results>(values);
      });
    }
    ASSERT_EQ(found[1], found[0]) << "array " << array;
    ASSERT_EQ(found[2], found[0]) << "array " << array;
  }
}

}  // namespace
}  // namespace coset::team_test
