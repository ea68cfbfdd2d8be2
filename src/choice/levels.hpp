// SPDX-License-Identifier: Apache-2.0
// The levels of a machine along which large teams fold.
#pragma once

#include <span>
#include <vector>

#include "coset/topology.hpp"
#include "schedule/model/cost.hpp"

namespace coset::choice {

/// The levels of these processors whose groups of ranks all have one size, innermost first: each size divides the next,
/// and the last is smaller than the team. Empty if the machine reports none, or if ranks are spread unevenly.
std::vector<rank_t> levels_of(std::vector<processor> const& places);

/// The number of ranks of each node, if there are several nodes and the ranks of each are consecutive; else empty.
std::vector<rank_t> nodes_of(std::vector<processor> const& places);

/// Whether they differ in size, so that no product of dimensions fits them. They are a level of their own then.
bool has_uneven(std::vector<rank_t> const& nodes);

/// What joins ranks, and what that costs.
struct level_kind {
  char const* name;
  unsigned processor::*domain;                          ///< null: one domain for all
  double latency, per_peer, per_byte, shared, fan_out;  ///< as in schedule::link
};

/// core, l3, node, package and machine, with the prices that the defaults assume. Seconds.
std::span<level_kind const> level_kinds();
/// Per byte folded, and per stream that a core does not prefetch.
inline constexpr double fold_per_byte = 0.01e-9, per_stream_beyond = 20e-9;

/// The levels of ranks in an order in which those of a group are neighbours.
struct levels_in_order {
  std::vector<rank_t> order;  ///< [place]: the rank that is there; empty: ranks are neighbours as they are numbered
  std::vector<rank_t> levels = {}, nodes = {};  ///< as of ranks that are numbered so
  std::vector<schedule::link> links = {};
};

/// Of ranks that lie scattered over packages, nodes or L3s: those that share one next to each other, else as they are
/// numbered. Without an order if that is how they lie, or if it makes no levels either.
levels_in_order scattered_levels(std::vector<processor> const& places);

/// Of the same ranks, as they are numbered and in an order in which they are on more levels.
struct level_facts {
  levels_in_order as_numbered, scattered;
};
level_facts level_facts_of(std::vector<processor> const& places);

/// A link for each of levels_of, one for nodes of different sizes, and the last for all ranks.
std::vector<schedule::link> links_of(std::vector<processor> const& places);
/// The same where only their number is known.
std::vector<schedule::link> usual_links(std::size_t number);

}  // namespace coset::choice
