// SPDX-License-Identifier: Apache-2.0
// The levels of a machine along which large teams fold, and what they cost.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "coset/topology.hpp"
#include "planning/calibration/memory_costs.hpp"
#include "planning/schedule/model/machine.hpp"

namespace coset::choice {

/// What joins ranks, and what that costs.
struct level_kind {
  char const* name;
  unsigned processor::*domain;                          ///< null: one domain for all
  double latency, per_peer, per_byte, shared, fan_out;  ///< as in schedule::link
};

/// core, l3, node, package and machine, with the prices that the defaults assume. Seconds.
std::span<level_kind const> level_kinds();
/// Per byte folded, and per stream that a core does not prefetch.
inline constexpr double fold_per_byte = calibration::memory_costs{}.folded, per_stream_beyond = 20e-9;
/// What so many ranks of one L3 pay to reach each other.
schedule::link link_of_l3(rank_t ranks = UINT32_MAX);

/// Levels whose groups of consecutive ranks have one size, each a multiple of the one before, and nodes of different sizes; the
/// last level joins all ranks.
using levels_ptr = std::shared_ptr<schedule::level_machine const>;

/// Of these processors, one at least, as ranks are numbered. With one level if they report no more, or ranks are spread unevenly.
schedule::level_machine levels_of(std::vector<processor> const& places);
/// Of groups that are known without a machine, innermost first, at usual prices.
schedule::level_machine usual_levels(rank_t ranks, std::vector<std::vector<rank_t>> const& sizes = {});

/// Nothing of ranks of which nobody knows where they are.
struct level_facts {
  levels_ptr as_numbered;
  /// Of ranks that lie scattered over packages, nodes or L3s: those that share one next to each other. Null where ranks are
  /// numbered so, or where that makes no levels either.
  levels_ptr scattered;
  std::vector<rank_t> order;  ///< [place]: the rank that is there then
};
level_facts level_facts_of(std::vector<processor> const& places);

}  // namespace coset::choice
