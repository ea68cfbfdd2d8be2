// SPDX-License-Identifier: Apache-2.0
// Bandwidths by nccl-tests' definitions, and the comparison of each rival with coset.
#include "command/measure/harness/rows.hpp"

#include <algorithm>
#include <limits>

namespace coset::measure {

namespace {

/// The vectors that each rank has to receive or send.
double bus_factor(problem const& p) {
  double const others = p.ranks > 1 ? (p.ranks - 1.0) / p.ranks : 0;
  if (detail::is_of_pieces(p.what)) return others;
  return detail::is_rooted(p.what) ? 1 : 2 * others;
}

}  // namespace

std::vector<row> rows_of(measurement const& m, state_figures const& state, std::vector<contestant*> const& players) {
  std::vector<row> rows;
  for (std::size_t i = 0; i < players.size(); ++i) {
    if (state.of[i].rounds.empty()) continue;
    row r;
    r.player = players[i];
    r.time = spread_of(state.of[i].samples);
    r.algorithm_bandwidth = static_cast<double>(m.shape.bytes()) / r.time.median;
    r.bus_bandwidth = r.algorithm_bandwidth * bus_factor(m.shape);
    r.wrong = m.wrong[i];
    r.iterations = state.of[i].iterations;
    if (i > 0) r.against_coset = compare(state.of[0].rounds, state.of[i].rounds);
    rows.push_back(r);
  }
  return rows;
}

row const* best_rival(std::vector<row> const& rows, verb what) {
  bool const shares = detail::shares_result(what);
  row const* best = nullptr;
  for (row const& r : rows) {
    auto const& family = r.player->family();
    if (family == "coset" || family == "reference" || (!shares && r.player->name() == "omp shared")) continue;
    if (best == nullptr || r.against_coset->ratio > best->against_coset->ratio) best = &r;
  }
  return best;
}

row const& least_of(std::vector<row> const& rows) {
  auto const time = [](row const& r) {
    return r.player->family() == "reference" ? std::numeric_limits<double>::max() : r.time.median;
  };
  return *std::ranges::min_element(rows, {}, time);
}

}  // namespace coset::measure
