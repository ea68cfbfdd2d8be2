// SPDX-License-Identifier: Apache-2.0
// `coset bench --scaling`: allreduce on growing numbers of ranks beside the bandwidth of the same processors.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "command/measure/harness/rounds.hpp"
#include "command/measuring.hpp"
#include "command/table.hpp"
#include "coset/topology.hpp"

namespace coset::cli {

inline constexpr std::size_t scaling_rounds = 5;

struct scaling_request {
  measure::element_kind element = measure::element_kind::float32;
  std::vector<std::uint64_t> sizes{64 << 10, 1 << 20, 16 << 20};
  rank_t most_ranks = 0;           ///< 0: one per core
  measure::round_options options;  ///< except the timing: both are measured
  wanted_output output;
};

/// A number of ranks, placed in one way.
struct scaling_shape {
  std::string place;              ///< "compact", "scatter", or "node 1" alone
  std::vector<processor> places;  ///< [rank]
};

/// 1 to 8 ranks, powers of two, full nodes and all; scattered too if there are nodes; then each further node alone.
std::vector<scaling_shape> scaling_shapes(topology const&, rank_t most_ranks);

/// GB/s, bytes read and written, summed over ranks. No synchronisation except in `allreduce`.
struct bandwidths {
  double read = 0, copy = 0;
  double kernel = 0;     ///< each rank folds its slice of all inputs into all outputs, by the faster kind of stores
  double allreduce = 0;  ///< the traffic that no allreduce with private results can avoid, in its time
  double efficiency() const { return kernel > 0 ? allreduce / kernel : 0; }
};

struct scaling_row {
  scaling_shape shape;
  measure::problem problem;
  measure::timing timing = measure::timing::cycle;
  std::string state;       ///< of the machine, in most rounds; empty if it changed in all of them
  std::size_t rounds = 0;  ///< in that state
  double algorithm_bandwidth = 0, bus_bandwidth = 0;
  std::string kernel;                                 ///< the faster one's name
  bandwidths all;                                     ///< of all ranks
  std::vector<std::pair<unsigned, bandwidths>> node;  ///< by the operating system's index
  std::size_t wrong = 0;
};

/// Measures, prints, writes. Throws CLI::RuntimeError(1) if a result was wrong.
void measure_scaling(scaling_request const&);

std::string scaling_heads(topology const&, scaling_request const&);
/// Without rows: they are told as they come.
table scaling_table(scaling_request const&, std::vector<scaling_shape> const&);
std::string scaling_lines(scaling_row const&, table const& like);
nlohmann::ordered_json scaling_json(topology const&, scaling_request const&, std::vector<scaling_row> const&);

}  // namespace coset::cli
