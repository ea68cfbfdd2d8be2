// SPDX-License-Identifier: Apache-2.0
// Trees that keep the order of ranks, for pipelines.
#pragma once

#include <vector>

#include "schedule/core/schedule.hpp"

namespace coset::schedule {

/// The children of each rank: those below it in ascending order, those above it in descending order. What lies below a rank
/// is a run of neighbours, so that a rank that folds its children, the last one first, keeps rank order.
using rank_children = std::vector<std::vector<rank_t>>;

/// A run of ranks and the one of them on top.
struct rank_run {
  rank_t first, last, top;  ///< [first, last)
};

/// The run's rank that is on top where every rank has at most `degree` children: as many of them below it as above it.
rank_t middle_of(rank_t first, rank_t last, rank_t degree);

/// Hangs the run's other ranks below its top, at most `degree` children each, in parts as equal as can be. A top in the
/// middle of its run needs a degree of two.
void grow(rank_children&, rank_run, rank_t degree);

/// The most children of one rank.
std::size_t most_children(rank_children const&);

}  // namespace coset::schedule
