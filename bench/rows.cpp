// SPDX-License-Identifier: Apache-2.0
// Bandwidths by nccl-tests' definitions, and the comparison of each rival with coset.
#include "bench/rows.hpp"

namespace coset::bench {

std::vector<row> rows_of(measurement const& m, state_figures const& state, std::vector<contestant*> const& players) {
  double const ranks = m.shape.ranks;
  std::vector<row> rows;
  for (std::size_t i = 0; i < players.size(); ++i) {
    if (state.of[i].rounds.empty()) continue;
    row r;
    r.player = players[i];
    r.time = spread_of(state.of[i].samples);
    r.algorithm_bandwidth = static_cast<double>(m.shape.bytes()) / r.time.median;
    r.bus_bandwidth = r.algorithm_bandwidth * 2 * (ranks - 1) / ranks;
    r.wrong = m.wrong[i];
    if (i > 0) r.against_coset = compare(state.of[0].rounds, state.of[i].rounds);
    rows.push_back(r);
  }
  return rows;
}

}  // namespace coset::bench
