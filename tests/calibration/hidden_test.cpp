// SPDX-License-Identifier: Apache-2.0
// What becomes of clusters: the sentence about them, the order of ranks.
#include "command/measure/fits/hidden_levels.hpp"

#include <gtest/gtest.h>

namespace coset::calibration {
namespace {

using levels = std::vector<clustering>;

std::vector<processor> places(std::string const& machine) {
  auto const found = topology::synthetic(machine);
  return found.place(found.cores(), placement::compact);
}

TEST(Hidden, LevelsAreSetBesideWhatTheMachineSays) {
  auto const four = places("core:4 pu:1"), two_caches = places("package:1 l3:2 core:2 pu:1");
  EXPECT_EQ(told_and_measured(four, {{{0, 1}, {2, 3}}}), "the machine says 4 equal cores; measured: {0,1} {2,3}");
  EXPECT_EQ(told_and_measured(four, {}), "the machine says 4 equal cores; measured: no clusters");
  EXPECT_EQ(told_and_measured(places("core:1 pu:1"), {}), "the machine says 1 core; measured: no clusters");
  EXPECT_EQ(told_and_measured(two_caches, {{{0, 1}, {2, 3}}}),
            "the machine says 4 cores in {0,1} {2,3}; measured: the same");
  EXPECT_EQ(told_and_measured(two_caches, {{{0, 2}, {1, 3}}}),
            "the machine says 4 cores in {0,1} {2,3}; measured: {0,2} {1,3}");
  EXPECT_EQ(told_and_measured(places("core:8 pu:1"), {{{0, 1}, {2, 3}, {4, 5}, {6, 7}}, {{0, 1, 2, 3}, {4, 5, 6, 7}}}),
            "the machine says 8 equal cores; measured: {0,1} {2,3} {4,5} {6,7} in {0,1,2,3} {4,5,6,7}");
}

TEST(Hidden, LevelsAreNotThoseThatTheMachineTells) {
  EXPECT_EQ(told_by(places("core:4 pu:1")), levels());
  EXPECT_EQ(told_by(places("package:2 numa:1 l3:2 core:2 pu:1")),
            (levels{{{0, 1}, {2, 3}, {4, 5}, {6, 7}}, {{0, 1, 2, 3}, {4, 5, 6, 7}}}));
}

TEST(Hidden, RanksOfAClusterBecomeConsecutive) {
  levels const crossed{{{0, 4}, {1, 7}, {2, 6}, {3, 5}}, {{0, 2, 4, 6}, {1, 3, 5, 7}}};
  auto const order = consecutive(crossed);
  EXPECT_EQ(order, (std::vector<rank_t>{0, 4, 2, 6, 1, 7, 3, 5}));
  EXPECT_EQ(renumbered(crossed, order), (levels{{{0, 1}, {2, 3}, {4, 5}, {6, 7}}, {{0, 1, 2, 3}, {4, 5, 6, 7}}}));
  EXPECT_EQ(consecutive({}), (std::vector<rank_t>{}));
}

}  // namespace
}  // namespace coset::calibration
