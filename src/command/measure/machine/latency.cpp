// SPDX-License-Identifier: Apache-2.0
// Ping-pong over a tournament's pairs, and connected components of the near ones.
#include "command/measure/machine/latency.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <limits>

namespace coset::measure {
namespace {

constexpr int exchanges = 60;  // there and back, per trial
constexpr int trials = 5;      // the fastest counts: interruptions only ever add

/// One side of one trial. The side that serves stores odd values, the other answers with the even ones.
void play(flag& ball, bool serves) {
  auto const start = ball.value.load(std::memory_order_acquire) / 2 * 2;
  for (std::uint64_t i = 0; i < exchanges; ++i) {
    auto const served = start + 2 * i + 1;
    // Each release store is seen by the acquire load of the other side's loop.
    if (serves) ball.value.store(served, std::memory_order_release);
    spin_until([&] { return ball.value.load(std::memory_order_acquire) == served + (serves ? 1 : 0); });
    if (!serves) ball.value.store(served + 1, std::memory_order_release);
  }
}

double one_way_nanoseconds(flag& ball, bool serves, flag_barrier& together, rank_t rank, bool pauses) {
  double best = std::numeric_limits<double>::max();
  for (int t = 0; t < trials; ++t) {
    together.arrive_and_wait(rank);
    if (pauses) continue;
    auto const begin = std::chrono::steady_clock::now();
    play(ball, serves);
    std::chrono::duration<double, std::nano> const spent = std::chrono::steady_clock::now() - begin;
    best = std::min(best, spent.count() / (2 * exchanges));
  }
  return best;
}

/// The least latency of a pair; 0 for one rank.
double nearest_of(latency_matrix const& latency) {
  double least = 0;
  for (std::size_t a = 0; a < latency.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) least = least == 0 ? latency[a][b] : std::min(least, latency[a][b]);
  }
  return least;
}

}  // namespace

std::string nearness::describe() const {
  if (clusters.size() <= 1 || all_apart()) return kind();
  std::string text = "clustered";
  for (auto const& cluster : clusters) text += fmt::format(" {{{}}}", fmt::join(cluster, ","));
  return text;
}

std::string nearness::kind() const {
  if (clusters.empty()) return "shared";
  if (clusters.size() == 1) return "near";
  if (all_apart()) return "far";
  std::vector<std::size_t> sizes;
  for (auto const& cluster : clusters) sizes.push_back(cluster.size());
  std::sort(sizes.rbegin(), sizes.rend());
  return fmt::format("clustered {}", fmt::join(sizes, "+"));
}

bool nearness::all_apart() const {
  return std::all_of(clusters.begin(), clusters.end(), [](auto const& cluster) { return cluster.size() == 1; });
}

nearness classify(latency_matrix const& latency, double nearest) {
  auto const ranks = static_cast<rank_t>(latency.size());
  nearness found;
  std::vector<bool> placed(ranks, false);
  for (rank_t first = 0; first < ranks; ++first) {
    if (placed[first]) continue;
    placed[first] = true;
    std::vector<rank_t> cluster{first};
    for (std::size_t i = 0; i < cluster.size(); ++i) {
      for (rank_t other = 0; other < ranks; ++other) {
        if (placed[other] || latency[cluster[i]][other] > near_ratio * nearest) continue;
        placed[other] = true;
        cluster.push_back(other);
      }
    }
    std::sort(cluster.begin(), cluster.end());
    found.clusters.push_back(std::move(cluster));
  }
  return found;
}

nearness classify(latency_matrix const& latency) { return classify(latency, nearest_of(latency)); }

rank_t opponent_rounds(rank_t ranks) { return ranks < 2 ? 0 : ranks + ranks % 2 - 1; }

// The circle method: the last seat stays, the others turn; with an odd number the last seat is empty.
rank_t opponent(rank_t ranks, rank_t round, rank_t rank) {
  rank_t const turning = opponent_rounds(ranks);
  rank_t const last = turning;
  rank_t const meets_last = round % turning;
  rank_t other = meets_last;
  if (rank == meets_last) {
    other = last;
  } else if (rank != last) {
    other = (2 * meets_last + turning - rank) % turning;
  }
  return other < ranks ? other : rank;
}

latency_probe::latency_probe(std::vector<unsigned> const& processors)
    : crew_(processors),
      balls_(processors.size()),
      together_(static_cast<rank_t>(processors.size())),
      takes_turns_(!have_one_each(processors)) {}

latency_matrix latency_probe::measure() {
  rank_t const ranks = crew_.size();
  latency_matrix latency(ranks, std::vector<double>(ranks, 0));
  crew_.run([&](rank_t rank) {
    for (rank_t round = 0; round < opponent_rounds(ranks); ++round) {
      rank_t const other = opponent(ranks, round, rank);
      rank_t const lower = std::min(rank, other);
      double const found = one_way_nanoseconds(balls_[lower], rank == lower, together_, rank, rank == other);
      if (rank < other) latency[rank][other] = latency[other][rank] = found;
    }
  });
  double const nearest = nearest_of(latency);
  nearest_ = nearest_ == 0 ? nearest : std::min(nearest_, nearest);
  return latency;
}

}  // namespace coset::measure
