// SPDX-License-Identifier: Apache-2.0
// Where coset bench --scaling measures, on machines that are not here.
#include <algorithm>

#include <gtest/gtest.h>

#include "command/bench/bench_scaling.hpp"

namespace coset::cli {
namespace {

std::vector<std::size_t> ranks_of(std::vector<scaling_shape> const& shapes, std::string const& place) {
  std::vector<std::size_t> ranks;
  for (auto const& shape : shapes)
    if (shape.place == place) ranks.push_back(shape.places.size());
  return ranks;
}

using numbers = std::vector<std::size_t>;

TEST(ScalingShapes, OnOneNodeAreCompactOnly) {
  auto const shapes = scaling_shapes(topology::synthetic("core:12 pu:2"), 0);
  EXPECT_EQ(ranks_of(shapes, "compact"), (numbers{1, 2, 3, 4, 5, 6, 7, 8, 12}));
  EXPECT_EQ(shapes.size(), 9u);
}

TEST(ScalingShapes, OnManyNodesAreFullNodesScatteredRanksAndEachNodeAlone) {
  auto const shapes = scaling_shapes(topology::synthetic("pack:2 node:4 core:6 pu:2"), 0);
  EXPECT_EQ(ranks_of(shapes, "compact"), (numbers{1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 18, 24, 30, 32, 36, 42, 48}));
  EXPECT_EQ(ranks_of(shapes, "scatter").size(), 16u);  // one rank is nowhere else
  for (unsigned node = 1; node < 8; ++node) {
    auto const alone = std::find_if(shapes.begin(), shapes.end(),
                                    [&](auto const& s) { return s.place == "node " + std::to_string(node); });
    ASSERT_NE(alone, shapes.end());
    EXPECT_EQ(alone->places.size(), 6u);
    for (auto const& p : alone->places) EXPECT_TRUE(p.node == node && p.thread == 0);
  }
}

TEST(ScalingShapes, EndAtTheMostRanksAskedFor) {
  auto const machine = topology::synthetic("node:2 core:8 pu:2");
  EXPECT_EQ(ranks_of(scaling_shapes(machine, 3), "compact"), (numbers{1, 2, 3}));
  EXPECT_EQ(ranks_of(scaling_shapes(machine, 3), "node 1"), (numbers{3}));
  EXPECT_EQ(ranks_of(scaling_shapes(machine, 20), "compact").back(), 20u);  // hardware threads too
  EXPECT_THROW(scaling_shapes(machine, 33), topology_error);
}

}  // namespace
}  // namespace coset::cli
