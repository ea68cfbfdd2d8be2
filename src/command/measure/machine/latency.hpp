// SPDX-License-Identifier: Apache-2.0
// One-way cache line latencies between processors right now, and the class of machine state that they show.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "command/measure/machine/flag_barrier.hpp"
#include "command/measure/machine/parking.hpp"

namespace coset::measure {

/// [a][b]: nanoseconds from a store by rank a until rank b sees it. Symmetric; 0 on the diagonal.
using latency_matrix = std::vector<std::vector<double>>;

/// Pairs within this many times the nearest pair are near. Within a core complex or a mesh the farthest pair takes less
/// than twice as long as the nearest (Sapphire Rapids 76 to 130 ns), between two complexes five times (Zen 4 30 and 160
/// ns). A ratio, as nanoseconds differ by processor. Two ranks that never were nearer are near.
inline constexpr double near_ratio = 2;

/// Which ranks are near each other. Virtual machines move processors within seconds: measure before and after.
struct nearness {
  std::vector<std::vector<rank_t>> clusters;  ///< connected by near pairs; each sorted, ordered by first rank

  /// "near" (one cluster), "far" (all apart), "clustered {0,1} {2,3}", or "shared" if no pair can be measured.
  std::string describe() const;

  /// The same without ranks: "near", "far" or "clustered 2+2", the largest cluster first. Figures are kept by this,
  /// since it hardly matters to a collective which rank is apart.
  std::string kind() const;

  bool operator==(nearness const&) const = default;

 private:
  bool all_apart() const;
};

/// Relative to `nearest`, the latency of the nearest pair measured so far; 0 if there is none.
nearness classify(latency_matrix const&, double nearest);

/// The same relative to the matrix's own nearest pair.
nearness classify(latency_matrix const&);

/// The number of rounds of a tournament in which every rank meets every other once.
rank_t opponent_rounds(rank_t ranks);
/// The opponent of `rank`; `rank` itself if it pauses.
rank_t opponent(rank_t ranks, rank_t round, rank_t rank);

/// Plays ping-pong with one cache line between all pairs of ranks, disjoint pairs at the same time.
class latency_probe {
 public:
  explicit latency_probe(std::vector<unsigned> const& processors);

  /// Cost: P-1 rounds of about 0.1 ms. Not to be called while other threads run on these processors.
  latency_matrix measure();

  /// Has a thread on each of the processors do this.
  void on_each(std::function<void(rank_t)> const& job) { crew_.run(job); }
  rank_t ranks() const noexcept { return crew_.size(); }

  /// Ranks share processors: a measurement would give the length of a turn.
  bool takes_turns() const { return takes_turns_; }

  /// The latency of the nearest pair measured so far: pairs that are apart now may have been together before.
  double nearest() const { return nearest_; }

 private:
  crew crew_;
  std::vector<flag> balls_;  ///< [lower rank of the pair]
  flag_barrier together_;
  double nearest_ = 0;
  bool const takes_turns_;
};

}  // namespace coset::measure
