// SPDX-License-Identifier: Apache-2.0
#include "tuning/choose.hpp"

#include <gtest/gtest.h>

#include <array>

#include "schedule/algorithm.hpp"
#include "schedule/validate.hpp"
#include "team/wanted.hpp"

namespace coset::tuning {
namespace {

constexpr std::array verbs{verb::allreduce,      verb::reduce_shared, verb::allreduce_view, verb::reduce,
                           verb::reduce_scatter, verb::allgather,     verb::broadcast,      verb::scan,
                           verb::exclusive_scan, verb::barrier};

TEST(Choose, TakesPlansThatAreValidKeepTheOrderAndGiveTheSameBits) {
  for (verb const what : verbs) {
    for (rank_t ranks = 1; ranks <= 48; ++ranks) {
      for (std::size_t bytes = 1; bytes < std::size_t{1} << 30; bytes *= 8) {
        auto const chosen = choose({.what = what, .ranks = ranks, .bytes = bytes});
        auto const plan = schedule::make(schedule::algorithm::parse(chosen.algorithm), ranks,
                                         team_room::schedule_of(what), ranks / 2);
        auto const found = schedule::validate(plan);
        EXPECT_TRUE(found.ordered && found.rank_uniform) << chosen.algorithm << " on " << ranks;
      }
    }
  }
}

TEST(Choose, ReadsFromNoMoreThanEightRanksAtOnceWhereRanksHaveFactors) {
  for (rank_t const ranks : {9u, 12u, 16u, 24u, 48u, 64u, 96u, 128u, 192u}) {
    for (std::size_t const bytes : {std::size_t{8}, std::size_t{64} << 10, std::size_t{16} << 20}) {
      auto const chosen = choose({.ranks = ranks, .bytes = bytes});
      auto const plan = schedule::make(schedule::algorithm::parse(chosen.algorithm), ranks);
      EXPECT_LT(schedule::validate(plan).fan_in, 8u) << chosen.algorithm << " on " << ranks;
    }
  }
}

}  // namespace
}  // namespace coset::tuning
