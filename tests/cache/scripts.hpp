// SPDX-License-Identifier: Apache-2.0
// Tiny scripts, and machines whose costs make results that one can compute by hand.
#pragma once

#include <string>
#include <vector>

#include "lab/cache/machine.hpp"
#include "lab/cache/script.hpp"
#include "lab/cache/simulation.hpp"

namespace coset::cache::testing {

/// Nothing costs anything but what a test sets.
inline costs free_of_charge() {
  costs c;
  for (line_costs& l : c.line) l = {0, 0, 0};
  for (double& bytes_per_second : c.link) bytes_per_second = 1e30;
  c.memory = c.act = c.fold = c.combine = c.hands_over = 0;
  c.looks = 1;
  c.streams = c.stores = 1e30;
  return c;
}

inline machine machine_like(std::string const& description, costs const& c) {
  topology const t = topology::synthetic(description);
  return {t.place(t.cores(), placement::compact), c, {1 << 20, 1 << 20}};
}

/// Ranks that do nothing, with a line of flags for each.
inline work idle_work(rank_t ranks) {
  work w;
  w.flags = ranks;
  w.span = 10;
  for (rank_t r = 0; r < ranks; ++r) w.cells.push_back({1, r});
  w.call.resize(2);
  w.call[0].resize(ranks);
  w.writes_input.resize(ranks);
  w.reads_output.resize(ranks);
  return w;
}

/// The same script in both parities, then simulated.
inline simulated call_of(machine const& m, work w) {
  w.call[1] = w.call[0];
  return simulate(m, w, timing::call);
}

inline act look(std::uint32_t line, std::int64_t value) {
  return {.what = act_kind::look, .line = line, .value = value};
}
inline act post(std::uint32_t line, std::int64_t value) {
  return {.what = act_kind::post, .line = line, .value = value};
}

}  // namespace coset::cache::testing
