// SPDX-License-Identifier: Apache-2.0
#include "tuning/choose.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "effort.hpp"
#include "schedule/algorithm.hpp"
#include "schedule/validate.hpp"
#include "team/wanted.hpp"

namespace coset::tuning {
namespace {

constexpr std::array verbs{verb::allreduce,      verb::reduce_shared, verb::allreduce_view, verb::reduce,
                           verb::reduce_scatter, verb::allgather,     verb::broadcast,      verb::scan,
                           verb::exclusive_scan, verb::barrier};

TEST(Choose, TakesPlansThatAreValidKeepTheOrderAndGiveTheSameBits) {
  rank_t const stride = test::by_effort<rank_t>(3, 1, 1);
  rank_t first = 0;
  for (verb const what : verbs) {
    for (rank_t ranks = 1 + first++ % stride; ranks <= 48; ranks += stride) {
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

std::string allreduce_on(std::string const& machine, std::size_t bytes, rank_t ranks = 0) {
  auto const found = topology::synthetic(machine);
  auto const places = found.place(ranks == 0 ? found.cores() : ranks, placement::compact);
  return choose({.ranks = static_cast<rank_t>(places.size()), .bytes = bytes, .levels = levels_of(places)}).algorithm;
}

TEST(Choose, StaysInsideCachesAndNodesAsLongAsItCan) {
  std::string const epyc = "package:1 l3:24 core:8 pu:1", two_sockets = "package:2 numa:1 l3:1 core:64 pu:2";
  EXPECT_EQ(allreduce_on(epyc, 64), "product(dims=8x8x3,saved_steps=3)");
  EXPECT_EQ(allreduce_on(epyc, 1 << 20), "product(dims=8x8x3,saved_steps=0)");
  EXPECT_EQ(allreduce_on(two_sockets, 1 << 20), "product(dims=8x8x2,saved_steps=0)");
  EXPECT_EQ(allreduce_on("package:1 l3:4 core:6 pu:1", 1 << 20), "product(dims=6x4,saved_steps=0)");
  EXPECT_EQ(allreduce_on("package:1 l3:4 core:6 pu:1", 1 << 20, 12), "product(dims=6x2,saved_steps=0)");
  EXPECT_EQ(allreduce_on("package:1 l3:2 core:4 pu:1", 1 << 20), "direct");
}

TEST(Levels, AreThoseWithGroupsOfOneSize) {
  auto const levels = [](std::string const& machine, rank_t ranks, placement how) {
    return levels_of(topology::synthetic(machine).place(ranks, how));
  };
  std::string const machine = "package:2 numa:2 l3:2 core:4 pu:1";
  EXPECT_EQ(levels(machine, 32, placement::compact), (std::vector<rank_t>{4, 8, 16}));
  EXPECT_EQ(levels(machine, 16, placement::compact), (std::vector<rank_t>{4, 8}));
  EXPECT_EQ(levels(machine, 18, placement::compact), (std::vector<rank_t>{}));
  EXPECT_EQ(levels(machine, 32, placement::scatter), (std::vector<rank_t>{}));
  EXPECT_EQ(levels("core:4 pu:1", 4, placement::compact), (std::vector<rank_t>{}));
}

}  // namespace
}  // namespace coset::tuning
