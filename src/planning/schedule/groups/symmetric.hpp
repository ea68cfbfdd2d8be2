// SPDX-License-Identifier: Apache-2.0
// Schedules in which all ranks do the same up to a shift, stored once in group elements and expanded on demand.
#pragma once

#include <span>
#include <vector>

#include "planning/schedule/core/schedule.hpp"
#include "planning/schedule/groups/group.hpp"

namespace coset::schedule {

/// A value of the own block, on the rank that lies `displacement` further.
struct symmetric_source {
  element displacement;
  slot_t slot;
};

/// On every rank x, for block x − lag: slot := the sources folded left to right.
struct symmetric_assignment {
  element lag;
  slot_t slot;
  std::uint32_t first, count;
};

/// An allreduce for every rank at once. Block b is [b/P, (b+1)/P); where all lags are treated alike the schedule is
/// `whole`: it has one block, and all its lags are 0.
struct symmetric_schedule {
  group ranks;
  bool whole = false;
  std::vector<symmetric_source> sources;
  std::vector<std::vector<symmetric_assignment>> steps;
  std::vector<slot_t> result;  ///< by lag
};

/// How the sources of a fold are ordered where they all have the same slot number.
enum class source_order {
  /// The normal form, by the lowest rank whose input they contain, on whatever rank they are: raw inputs by rank. Runs
  /// of ranks stay in rank order, so that direct, product and recursive doubling are ordered; and ranks that fold the
  /// same parts do so alike, so that the interval chain on 2^k ranks is rank_uniform however many steps it saves.
  by_least_rank,
  as_generated  ///< own value first, then by shift: cyclic order, where the chain keeps it
};

/// All ranks. Cost: that of the result. Throws schedule_error where require_room() does.
schedule expand(symmetric_schedule const&, source_order = source_order::by_least_rank);

/// The same without the assignments and results of other ranks: one rank's view in O(P · radix), and once O(P log P)
/// for what its partials contain.
schedule view(symmetric_schedule const&, rank_t rank, source_order = source_order::by_least_rank);

}  // namespace coset::schedule
