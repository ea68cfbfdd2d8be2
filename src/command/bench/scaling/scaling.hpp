// SPDX-License-Identifier: Apache-2.0
// `coset bench --scaling`: verbs and reducers on growing numbers of ranks, in several placements, beside what the machine moves.
// What was measured is the JSON of its file from the beginning: tables, pages, resumed and compared runs are made of that.
#pragma once

#include <string>
#include <vector>

#include "command/measure/harness/rounds.hpp"
#include "command/measuring.hpp"
#include "coset/topology.hpp"

namespace coset::cli {

inline constexpr std::size_t scaling_rounds = 7;

/// Those with arrays of each rank from which all others can be made, and no scans.
std::vector<verb> commonest_verbs();

struct scaling_request {
  measure::element_kind element = measure::element_kind::float32;
  /// The first one is timed in cycles and calls, the others in cycles.
  std::vector<verb> verbs = commonest_verbs();
  std::vector<std::uint64_t> sizes{8, 4 << 10, 64 << 10, 1 << 20, 16 << 20};
  rank_t most_ranks = 0;           ///< 0: one per core, and one per hardware thread
  measure::round_options options;  ///< except the timing
  wanted_output output;
};

/// A number of ranks, placed in one way.
struct scaling_shape {
  std::string place;              ///< "compact", "scatter", "one per L3", or "node 1" or "L3 4" alone
  std::vector<processor> places;  ///< [rank]
};

/// 1 to 8 ranks, powers of two, full nodes, all cores and all hardware threads, compact, and scattered if there are nodes; one
/// for each L3; then each further node alone, and an L3 of each node that has several. None has the processors of another.
std::vector<scaling_shape> scaling_shapes(topology const&, rank_t most_ranks);

/// Seconds that a run takes on machines like those that were measured; others by their number of ranks and nodes.
double estimated_seconds(topology const&, std::vector<scaling_shape> const&, scaling_request const&);
double estimated_seconds(scaling_shape const&, scaling_request const&);

/// Measures, prints, writes. Throws CLI::RuntimeError(1) if a result was wrong.
void measure_scaling(scaling_request const&);

}  // namespace coset::cli
