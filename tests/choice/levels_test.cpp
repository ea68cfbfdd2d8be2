// SPDX-License-Identifier: Apache-2.0
// Levels of ranks, whether the machine tells them or clusters are marked: the schedule along them.
#include "planning/choice/levels.hpp"

#include <gtest/gtest.h>

#include "planning/calibration/hidden.hpp"
#include "planning/choice/choose.hpp"
#include "planning/schedule/core/validate.hpp"
#include "planning/schedule/registry/algorithm.hpp"

namespace coset::choice {
namespace {

using calibration::clustering;
using calibration::mark;

std::vector<rank_t> groups_on(std::vector<processor> const& places) {
  question q{.ranks = static_cast<rank_t>(places.size())};
  put_on_levels(q, places);
  return groups_of(q);
}

std::vector<processor> places(std::string const& machine) {
  auto const found = topology::synthetic(machine);
  return found.place(found.cores(), placement::compact);
}

TEST(Levels, AreFoldedAlongFromInsideOut) {
  EXPECT_EQ(folds_along({{{0, 1}, {2, 3}}}, 4), "product(dims=2x2,saved_steps=0)");
  EXPECT_EQ(folds_along({{{0, 1}, {2, 3}, {4, 5}, {6, 7}}, {{0, 1, 2, 3}, {4, 5, 6, 7}}}, 8),
            "product(dims=2x2x2,saved_steps=0)");
  for (clustering const& uneven : {clustering{{0}, {1, 2, 3}}, clustering{{0, 1, 2}, {3, 4}, {5, 6, 7, 8}}}) {
    rank_t const ranks = uneven.back().back() + 1;
    auto const plan = schedule::make(schedule::algorithm::parse(folds_along({uneven}, ranks)), ranks);
    EXPECT_EQ(plan.algorithm, "unequal");
    EXPECT_TRUE(schedule::validate(plan).rank_uniform);
  }
}

/// Threads that nobody pins may be anywhere.
TEST(Levels, OfRanksThatAreNowhereAreTheUsualOnes) {
  question q{.ranks = 3, .bytes = 4096}, anywhere = q;
  put_on_levels(anywhere, std::vector<processor>{});
  EXPECT_EQ(choose(anywhere).algorithm, choose(q).algorithm);
  EXPECT_EQ(choose(anywhere).seconds, choose(q).seconds);
}

TEST(Levels, OfClustersServeLikeCaches) {
  auto sixteen = places("core:16 pu:1");
  EXPECT_EQ(groups_on(sixteen), (std::vector<rank_t>{}));
  mark(sixteen, {});
  EXPECT_EQ(groups_on(sixteen), (std::vector<rank_t>{}));
  clustering pairs, halves(2);
  for (rank_t r = 0; r < 16; ++r) {
    if (r % 2 == 0) pairs.push_back({r, r + 1});
    halves[r / 8].push_back(r);
  }
  mark(sixteen, {pairs, halves});
  EXPECT_EQ(groups_on(sixteen), (std::vector<rank_t>{2, 8}));
}

}  // namespace
}  // namespace coset::choice
