// SPDX-License-Identifier: Apache-2.0
// Where coset bench --scaling measures, on machines that are not here, and what it says of made-up figures.
#include <algorithm>

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "command/bench/scaling/between.hpp"
#include "command/bench/scaling/limits.hpp"
#include "command/bench/scaling/scaling.hpp"
#include "command/bench/scaling/spread.hpp"
#include "command/bench/scaling/volume.hpp"

namespace coset::cli {
namespace {

std::vector<std::size_t> ranks_of(std::vector<scaling_shape> const& shapes, std::string const& place) {
  std::vector<std::size_t> ranks;
  for (auto const& shape : shapes)
    if (shape.place == place) ranks.push_back(shape.places.size());
  return ranks;
}

scaling_shape const* shape_named(std::vector<scaling_shape> const& shapes, std::string const& place) {
  auto const at = std::find_if(shapes.begin(), shapes.end(), [&](auto const& s) { return s.place == place; });
  return at == shapes.end() ? nullptr : &*at;
}

using numbers = std::vector<std::size_t>;

TEST(ScalingShapes, OnOneNodeAreCompactOnly) {
  auto const shapes = scaling_shapes(topology::synthetic("core:12 pu:2"), 0);
  EXPECT_EQ(ranks_of(shapes, "compact"), (numbers{1, 2, 3, 4, 5, 6, 7, 8, 12, 24}));
  EXPECT_EQ(shapes.size(), 10u);
}

TEST(ScalingShapes, OnManyNodesAreFullNodesScatteredRanksAndEachNodeAlone) {
  auto const shapes = scaling_shapes(topology::synthetic("pack:2 node:4 core:6 pu:2"), 48);
  EXPECT_EQ(ranks_of(shapes, "compact"), (numbers{1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 18, 24, 30, 32, 36, 42, 48}));
  EXPECT_EQ(ranks_of(shapes, "scatter").size(), 15u);  // one rank and all of them are the same processors
  for (unsigned node = 1; node < 8; ++node) {
    auto const* const alone = shape_named(shapes, "node " + std::to_string(node));
    ASSERT_NE(alone, nullptr);
    EXPECT_EQ(alone->places.size(), 6u);
    for (auto const& p : alone->places) EXPECT_TRUE(p.node == node && p.thread == 0);
  }
}

TEST(ScalingShapes, HaveOneRankOnEachL3AndOneL3OfEachNode) {
  auto const shapes = scaling_shapes(topology::synthetic("node:2 l3:3 core:4 pu:1"), 0);
  auto const* const spread = shape_named(shapes, "one per L3");
  ASSERT_NE(spread, nullptr);
  std::vector<unsigned> caches;
  for (auto const& p : spread->places) caches.push_back(p.l3);
  EXPECT_EQ(caches, (std::vector<unsigned>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(shape_named(shapes, "L3 0"), nullptr) << "compact has these four ranks";
  auto const* const second = shape_named(shapes, "L3 3");
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->places.size(), 4u);
  for (auto const& p : second->places) EXPECT_EQ(p.l3, 3u);
}

TEST(ScalingShapes, EndAtTheMostRanksAskedForEvenInTurns) {
  auto const machine = topology::synthetic("node:2 core:8 pu:2");
  EXPECT_EQ(ranks_of(scaling_shapes(machine, 3), "compact"), (numbers{1, 2, 3}));
  EXPECT_EQ(ranks_of(scaling_shapes(machine, 3), "node 1"), (numbers{3}));
  EXPECT_EQ(ranks_of(scaling_shapes(machine, 20), "compact").back(), 20u);  // hardware threads too
  EXPECT_EQ(ranks_of(scaling_shapes(machine, 33), "compact").back(), 33u);
}

TEST(ScalingTime, GrowsWithRoundsSizesVerbsAndTheMachine) {
  scaling_request request;
  request.options.rounds = scaling_rounds;
  auto const seconds = [](char const* machine, scaling_request const& of) {
    auto const found = topology::synthetic(machine);
    return estimated_seconds(found, scaling_shapes(found, 0), of);
  };
  double const here = seconds("core:2 pu:1", request);
  EXPECT_LT(here, 300) << "a page in under five minutes";
  EXPECT_GT(seconds("pack:2 node:4 core:16 pu:2", request), 5 * here);
  auto fewer = request;
  fewer.sizes = {8};
  EXPECT_LT(seconds("core:2 pu:1", fewer), here);
  fewer = request;
  fewer.options.rounds = 2;
  EXPECT_LT(seconds("core:2 pu:1", fewer), here);
}

/// Three unequal nodes, numbered with gaps, whose matrices are measured with their distances instead of a clock.
struct ScalingMatrices : ::testing::Test {
  ScalingMatrices() {
    machine = topology::synthetic("node:3 core:6 pu:2");
    for (unsigned node = 0; node < 3; ++node) machine.nodes[node].os_index = numbers_of[node];
    std::erase_if(machine.processors, [](auto const& p) { return p.node == 1 && p.core % 6 > 0; });
  }
  unsigned number_of_node(unsigned os_processor) const {
    auto const at = std::ranges::find(machine.processors, os_processor, &processor::os_index);
    return machine.nodes[at->node].os_index;
  }
  /// Unlike from a to b and from b to a.
  static double distance(unsigned from, unsigned to) { return from == to ? 10 : 20 + from + to / 100.0; }

  nlohmann::ordered_json measured() {
    return measure_between(machine, {[&](std::vector<unsigned> const& readers, unsigned node) -> std::optional<double> {
                                       for (unsigned const reader : readers)
                                         EXPECT_EQ(number_of_node(reader), number_of_node(readers[0]));
                                       seen.push_back(readers.size());
                                       if (node == full) return std::nullopt;
                                       return 1000 / distance(number_of_node(readers[0]), node);
                                     },
                                     [&](std::vector<unsigned> const& some) {
                                       measure::latency_matrix all(some.size(), std::vector<double>(some.size()));
                                       for (std::size_t a = 0; a < some.size(); ++a)
                                         for (std::size_t b = 0; b < some.size(); ++b)
                                           all[a][b] = distance(number_of_node(some[a]), number_of_node(some[b]));
                                       return all;
                                     }});
  }

  static constexpr unsigned numbers_of[] = {2, 3, 7};
  topology machine;
  unsigned full = 99;
  std::vector<std::size_t> seen;  ///< readers of each cell
};

TEST_F(ScalingMatrices, FindTheDistancesOfTheNodes) {
  auto const found = measured();
  EXPECT_EQ(found["nodes"], nlohmann::ordered_json(numbers_of));
  for (unsigned a = 0; a < 3; ++a)
    for (unsigned b = 0; b < 3; ++b) {
      EXPECT_DOUBLE_EQ(found["read"][a][b], 1000 / distance(numbers_of[a], numbers_of[b])) << a << ' ' << b;
      if (a == 1 && b == 1) continue;
      EXPECT_DOUBLE_EQ(found["latency_ns"][a][b], distance(numbers_of[a], numbers_of[b])) << a << ' ' << b;
    }
  EXPECT_TRUE(found["latency_ns"][1][1].is_null()) << "a single core";
  EXPECT_EQ(seen, (std::vector<std::size_t>{6, 6, 6, 1, 1, 1, 6, 6, 6}))
      << "one thread of each core of the node that reads";
}

TEST_F(ScalingMatrices, HaveNoFigureWherePagesWereNotToBeHad) {
  full = numbers_of[2];
  auto const found = measured();
  for (unsigned a = 0; a < 3; ++a) EXPECT_TRUE(found["read"][a][2].is_null());
  EXPECT_TRUE(found["read"][2][1].is_number());
}

TEST(Limit, IsTheLongestPart) {
  limit_parts parts{.time = 100, .flags = 60, .own_work = 10, .moving = 20};
  parts.where = level::own_cache;
  auto found = limit_of(parts, "node 0");
  EXPECT_EQ(found.by, limit::flags);
  EXPECT_DOUBLE_EQ(found.share, 0.6);
  EXPECT_EQ(found.words, "latency of flags: that all ranks know of each other takes 60 % of the time");
  parts.flags = 5, parts.moving = 55;
  EXPECT_EQ(limit_of(parts, "node 0").by, limit::caches);
  parts.handing_over = 70;
  EXPECT_EQ(limit_of(parts, "node 0").by, limit::handing_over);
  parts.own_work = 71;
  EXPECT_EQ(limit_of(parts, "node 0").by, limit::own_work);
}

TEST(Limit, OfDataInMemoryIsItsBandwidthForWorkAndCollectiveTogether) {
  limit_parts const parts{.time = 100, .flags = 1, .own_work = 45, .moving = 40, .where = level::memory};
  auto const found = limit_of(parts, "node 1");
  EXPECT_EQ(found.by, limit::memory);
  EXPECT_EQ(
      found.words,
      "memory bandwidth of node 1: the bytes alone take 85 % of the time (the ranks' own writing and reading 45 %, the "
      "collective 40 %)");
}

TEST(Limit, IsTheLinksWhereCrossingTakesLongest) {
  limit_parts const parts{.time = 100, .own_work = 20, .moving = 20, .between_nodes = 70, .where = level::memory};
  EXPECT_EQ(limit_of(parts, "nodes 0, 1").by, limit::between_nodes);
}

TEST(Limit, IsSaidToBeUnknownWhereTheRestIsLongest) {
  limit_parts const parts{.time = 100, .flags = 10, .own_work = 20, .moving = 15, .where = level::shared_cache};
  auto const found = limit_of(parts, "node 0");
  EXPECT_EQ(found.by, limit::other);
  EXPECT_DOUBLE_EQ(found.share, 0.55);
}

TEST(Limit, OfRanksInTurnsIsTheSystem) {
  limit_parts const parts{.time = 100, .flags = 90, .share_processors = true};
  EXPECT_EQ(limit_of(parts, "node 0").by, limit::turns);
  EXPECT_EQ(limit_of(limit_parts{}, "node 0").by, limit::other) << "nothing was measured";
  EXPECT_EQ(limit_of({.time = 20, .moving = 5, .where = level::own_cache}, "node 0").words.rfind("the call itself:", 0),
            0u)
      << "one rank waits for nobody";
}

TEST(Limit, PartsThatOverlapAreAtMostTheWhole) {
  limit_parts const parts{.time = 100, .own_work = 90, .moving = 90, .where = level::memory};
  EXPECT_DOUBLE_EQ(limit_of(parts, "node 0").share, 1);
}

TEST(Level, IsTheSmallestThatHoldsThePointsBytes) {
  cache_sizes const sizes{1 << 20, 32 << 20};
  EXPECT_EQ(level_of(1 << 20, 8, sizes), level::own_cache);
  EXPECT_EQ(level_of(2 << 20, 8, sizes), level::shared_cache);
  EXPECT_EQ(level_of(4 << 20, 9, sizes), level::memory);
  EXPECT_EQ(level_of(64, 2, {}), level::memory) << "of caches that are unknown";
}

TEST(Volume, IsWhatAVerbCannotAvoid) {
  measure::problem of{measure::element_kind::float32, measure::operation_kind::plus, 256, 4, verb::allreduce};
  EXPECT_EQ(bytes_moved(of, measure::timing::call), 8 * 1024);  // each array read once, each result written once
  EXPECT_EQ(bytes_moved(of, measure::timing::cycle), 16 * 1024);
  of.what = verb::reduce;
  EXPECT_EQ(bytes_moved(of, measure::timing::call), 5 * 1024);
  of.what = verb::broadcast;
  EXPECT_EQ(bytes_moved(of, measure::timing::call), 8 * 1024);
  EXPECT_DOUBLE_EQ(vectors_between(verb::allreduce, 4), 1.5);
  EXPECT_DOUBLE_EQ(vectors_between(verb::reduce_scatter, 4), 0.75);
  EXPECT_DOUBLE_EQ(vectors_between(verb::broadcast, 1), 0);
}

TEST(Spread, RatiosOfRunsHaveTheirMediansAndAnIntervalAround) {
  auto const found = ratio_of({10, 10, 11, 10, 10, 9, 10}, {5, 5, 5, 5, 4, 6, 5});
  EXPECT_DOUBLE_EQ(found.median, 2);
  EXPECT_TRUE(found.low <= 2 && found.high >= 2 && found.low > 1.5 && found.high < 2.5)
      << found.low << ' ' << found.high;
}

TEST(Spread, DriftIsSeenOnlyWhereTheThirdsAreApart) {
  EXPECT_FALSE(steadiness_of({10, 12, 9, 10, 11, 10, 12, 9, 11}).drifts());
  auto const rising = steadiness_of({10, 10, 10, 11, 12, 12, 13, 13, 14});
  EXPECT_TRUE(rising.drifts());
  EXPECT_DOUBLE_EQ(rising.drift, 1.3);
  EXPECT_TRUE(steadiness_of({14, 13, 13, 12, 12, 11, 10, 10, 10}).drifts());
}

TEST(Spread, OutliersAreFarFromAllOthers) {
  EXPECT_EQ(steadiness_of({10, 10.2, 9.9, 10, 30, 10.1, 10}).outliers, 1u);
  EXPECT_EQ(steadiness_of({10, 10.2, 9.9, 10, 10.5, 10.1, 10}).outliers, 0u) << "a twentieth is no outlier";
}

}  // namespace
}  // namespace coset::cli
