// SPDX-License-Identifier: Apache-2.0
// Clusters that were planted are found under noise, and none where none were.
#include "command/measure/fits/clusters.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "effort.hpp"

namespace coset::calibration {
namespace {

using matrix = std::vector<std::vector<double>>;
using levels = std::vector<clustering>;

/// Latencies of a machine: [level] the time between processors whose innermost common cluster is of that level, the last
/// one between those that have none in common.
matrix latencies(rank_t processors, levels const& planted, std::vector<double> const& times) {
  matrix made(processors, std::vector<double>(processors, times.back()));
  for (std::size_t l = planted.size(); l-- > 0;) {
    for (auto const& cluster : planted[l]) {
      for (rank_t const a : cluster) {
        for (rank_t const b : cluster) made[a][b] = times[l];
      }
    }
  }
  for (rank_t a = 0; a < processors; ++a) made[a][a] = 0;
  return made;
}

class dice {
 public:
  explicit dice(std::uint32_t seed) : engine_(seed) {}
  rank_t number(rank_t from, rank_t to) { return std::uniform_int_distribution<rank_t>(from, to)(engine_); }
  double real(double from, double to) { return std::uniform_real_distribution<double>(from, to)(engine_); }
  double normal(double deviation) { return std::normal_distribution<double>(0, deviation)(engine_); }

  /// Errors of up to ±20 %, or normal ones of 15 %; of each direction for itself, or of both at once.
  void disturb(matrix& latency) {
    bool const normally = number(0, 1) == 1, same_both_ways = number(0, 1) == 1;
    for (std::size_t a = 0; a < latency.size(); ++a) {
      for (std::size_t b = 0; b < latency.size(); ++b) {
        latency[a][b] *= normally ? std::exp(normal(0.15)) : real(0.8, 1.2);
        if (same_both_ways && b < a) latency[a][b] = latency[b][a];
      }
    }
  }

  std::vector<rank_t> shuffled(rank_t n) {
    std::vector<rank_t> all(n);
    for (rank_t i = 0; i < n; ++i) all[i] = i;
    std::ranges::shuffle(all, engine_);
    return all;
  }

 private:
  std::mt19937 engine_;
};

clustering in_order(clustering made) {
  for (auto& cluster : made) std::ranges::sort(cluster);
  std::ranges::sort(made);
  return made;
}

/// Clusters of these sizes, their members anywhere.
clustering scattered(std::vector<rank_t> const& order, std::vector<rank_t> const& sizes) {
  clustering made;
  std::size_t next = 0;
  for (rank_t const size : sizes) {
    auto& cluster = made.emplace_back();
    for (rank_t i = 0; i < size; ++i) cluster.push_back(order[next++]);
  }
  return in_order(made);
}

std::vector<rank_t> equal_sizes(dice& with) { return std::vector<rank_t>(with.number(2, 16), with.number(2, 8)); }

std::vector<rank_t> unequal_sizes(dice& with) {
  std::vector<rank_t> sizes{with.number(3, 16)};
  for (rank_t more = with.number(1, 7); more > 0; --more) sizes.push_back(with.number(1, 16));
  return sizes;
}

rank_t sum(std::vector<rank_t> const& sizes) {
  rank_t all = 0;
  for (rank_t const s : sizes) all += s;
  return all;
}

std::string text(levels const& found) {
  std::string all;
  for (auto const& level : found) {
    for (auto const& cluster : level) {
      all += "{";
      for (rank_t const r : cluster) all += std::to_string(r) + " ";
      all += "} ";
    }
    all += "; ";
  }
  return all.empty() ? "none" : all;
}

struct machine {
  levels planted;
  matrix latency;
};

machine one_level(dice& with, std::vector<rank_t> const& sizes) {
  rank_t const n = sum(sizes);
  levels const planted{scattered(with.shuffled(n), sizes)};
  double const near = with.real(15, 60);
  return {planted, latencies(n, planted, {near, near * with.real(2.5, 10)})};
}

machine two_levels(dice& with, bool equal) {
  std::vector<rank_t> inner, outer;
  rank_t const each = with.number(2, 6), of_them = with.number(2, 4);
  for (rank_t o = with.number(2, 4); o > 0; --o) {
    outer.push_back(0);
    for (rank_t i = 0; i < of_them; ++i) outer.back() += inner.emplace_back(equal ? each : with.number(2, 8));
  }
  auto const order = with.shuffled(sum(inner));
  levels const planted{scattered(order, inner), scattered(order, outer)};
  double const near = with.real(10, 40), middle = near * with.real(2.5, 6);
  return {planted, latencies(sum(inner), planted, {near, middle, middle * with.real(2.5, 6)})};
}

TEST(Clusters, PlantedOnOneLevelAreFoundUnderNoise) {
  for (std::uint32_t seed = 0, all = test::by_effort(40, 400, 400); seed < all; ++seed) {
    dice with(seed);
    auto made = one_level(with, seed % 2 == 0 ? equal_sizes(with) : unequal_sizes(with));
    with.disturb(made.latency);
    auto const found = clusters_of(made.latency);
    EXPECT_EQ(found, made.planted) << "seed " << seed << ", found " << text(found) << ", not " << text(made.planted);
  }
}

TEST(Clusters, PlantedOnTwoLevelsAreFoundUnderNoise) {
  for (std::uint32_t seed = 0, all = test::by_effort(20, 200, 200); seed < all; ++seed) {
    dice with(seed);
    auto made = two_levels(with, seed % 2 == 0);
    with.disturb(made.latency);
    auto const found = clusters_of(made.latency);
    EXPECT_EQ(found, made.planted) << "seed " << seed << ", found " << text(found) << ", not " << text(made.planted);
  }
}

TEST(Clusters, AreNotInventedWhereAllPairsAreAlike) {
  for (std::uint32_t seed = 0, all = test::by_effort(100, 1000, 1000); seed < all; ++seed) {
    dice with(seed);
    rank_t const n = seed % 10 < 9 ? 2 + seed % 31 : with.number(33, 128);
    auto latency = latencies(n, {}, {with.real(20, 250)});
    with.disturb(latency);
    EXPECT_EQ(clusters_of(latency), levels()) << "seed " << seed << ", " << n << " processors";
  }
}

/// Times `factor`, both ways.
void mismeasure(matrix& latency, rank_t a, rank_t b, double factor) {
  latency[a][b] *= factor;
  latency[b][a] *= factor;
}

TEST(Clusters, AreNotInventedForOneNoisyPair) {
  for (std::uint32_t seed = 0, all = test::by_effort(40, 400, 400); seed < all; ++seed) {
    dice with(seed);
    rank_t const n = with.number(3, 32);
    auto latency = latencies(n, {}, {100});
    with.disturb(latency);
    auto const order = with.shuffled(n);
    mismeasure(latency, order[0], order[1], seed % 2 == 0 ? 8 : 1.0 / 8);
    EXPECT_EQ(clusters_of(latency), levels()) << "seed " << seed << ", " << n << " processors";
  }
}

TEST(Clusters, AreNeitherSplitNorJoinedByOneNoisyPair) {
  for (std::uint32_t seed = 0, all = test::by_effort(40, 400, 400); seed < all; ++seed) {
    dice with(seed);
    bool const splits = seed % 2 == 0;
    // In clusters of three one pair that is too far leaves as much for them as against.
    auto made = one_level(with, std::vector<rank_t>(with.number(2, 8), with.number(splits ? 4 : 2, 8)));
    with.disturb(made.latency);
    auto const& planted = made.planted[0];
    double const ratio = with.real(2.5, 10);
    mismeasure(made.latency, planted[0][0], splits ? planted[0][1] : planted[1][0], splits ? ratio : 1 / ratio);
    auto const found = clusters_of(made.latency);
    EXPECT_EQ(found, made.planted) << "seed " << seed << ", found " << text(found) << ", not " << text(made.planted);
  }
}

TEST(Clusters, NeedMoreThanOnePairOfEachKind) {
  EXPECT_EQ(clusters_of(latencies(4, {{{0, 1}, {2, 3}}}, {25, 200})), (levels{{{0, 1}, {2, 3}}}));
  EXPECT_EQ(clusters_of(latencies(4, {{{0}, {1, 2, 3}}}, {25, 200})), (levels{{{0}, {1, 2, 3}}}));
  EXPECT_EQ(clusters_of(latencies(4, {{{0, 1}, {2}, {3}}}, {25, 200})), levels());
  EXPECT_EQ(clusters_of(latencies(3, {{{0, 1}, {2}}}, {25, 200})), levels());
}

TEST(Clusters, TakeTheFasterDirection) {
  auto latency = latencies(4, {{{0, 2}, {1, 3}}}, {25, 200});
  latency[0][2] = latency[3][1] = 5000;
  EXPECT_EQ(clusters_of(latency), (levels{{{0, 2}, {1, 3}}}));
}

TEST(Clusters, PairsThatWereNotMeasuredCountForNothing) {
  double const infinity = std::numeric_limits<double>::infinity();
  for (double const nothing : {0.0, -1.0, infinity, -infinity, std::nan("")}) {
    auto latency = latencies(8, {{{0, 1, 2, 3}, {4, 5, 6, 7}}}, {25, 200});
    for (auto const& [a, b] : {std::pair(0u, 1u), std::pair(2u, 7u)}) latency[a][b] = latency[b][a] = nothing;
    EXPECT_EQ(clusters_of(latency), (levels{{{0, 1, 2, 3}, {4, 5, 6, 7}}})) << nothing;
    for (rank_t n = 0; n < 6; ++n) EXPECT_EQ(clusters_of(latencies(n, {}, {nothing})), levels()) << nothing;
  }
}

TEST(Clusters, OfMachinesWithoutPairsOrWithTiesAreNone) {
  for (rank_t n = 0; n < 20; ++n) EXPECT_EQ(clusters_of(latencies(n, {}, {40})), levels());
  EXPECT_THROW(clusters_of({{0, 1}, {1}}), argument_error);
}

TEST(Clusters, OfFiveHundredProcessorsTakeNoLongerThanMeasuringThem) {
  dice with(1);
  auto made = one_level(with, std::vector<rank_t>(64, 8));
  with.disturb(made.latency);
  EXPECT_EQ(clusters_of(made.latency), made.planted);
}

}  // namespace
}  // namespace coset::calibration
