// SPDX-License-Identifier: Apache-2.0
// Trees that keep the order of ranks, for pipelines.
#pragma once

#include <vector>

#include "planning/schedule/core/schedule.hpp"

namespace coset::schedule {

/// `child` is its parent's child of that number, counted from 0: those above the parent first, the farthest first, then
/// those below it likewise.
struct tree_edge {
  rank_t parent, child;
  std::uint32_t number;
};

/// The edge to a rank stands before those to its children. What hangs below an edge is a run of neighbours, next to the
/// parent and to what hangs below the edges of higher numbers on that side: so a rank that folds its children, the last one
/// first, keeps rank order.
using tree_edges = std::vector<tree_edge>;

/// A run of ranks and the one of them on top.
struct rank_run {
  rank_t first, last, top;  ///< [first, last)
};

/// The run with as many ranks above its top as below it, as near as a whole number of equal parts for `degree` children allows.
rank_run balanced(rank_t first, rank_t last, rank_t degree);

/// Hangs the run's other ranks below its top, at most `degree` children each, in parts as equal as can be. A top in the
/// middle of its run needs a degree of two.
void grow(tree_edges&, rank_run, rank_t degree);

/// The most children of one rank.
std::uint32_t most_children(tree_edges const&);

}  // namespace coset::schedule
