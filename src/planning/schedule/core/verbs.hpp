// SPDX-License-Identifier: Apache-2.0
// Every verb out of an allreduce, by leaving out what it does not need.
#pragma once

#include "planning/schedule/core/schedule.hpp"

namespace coset::schedule {

using detail::is_derived;

/// An allreduce as another verb:
/// reduce and reduce_scatter keep the results that the verb has, and what leads to them;
/// broadcast and allgather keep the origin's contribution only, so folds become copies, at most one per rank and block;
/// gather is an allgather of which the root alone keeps the results, scatter a broadcast of which each rank keeps its piece;
/// all_to_all is a reduce_scatter that keeps the contributions apart: the piece that rank o has for rank d goes the way
/// that o's contribution goes to the result of d. It is block (d − o) mod P of either rank, so that there are P blocks only.
/// barrier is the allreduce itself. Blocks are cut at the ranks' pieces where the verb needs it.
/// A verb that leaves out more can be made of one that leaves out less, as gather of allgather or reduce.
/// Throws schedule_error for scans, if the root is no rank, and if there is no room for so many moves of pieces.
schedule derive(schedule allreduce, verb what, rank_t root = 0);

/// Drops the results that the schedule's verb has not.
void keep_required_results(schedule&);

/// Leaves out assignments that no result depends on, and renumbers the slots densely.
void prune(schedule&);

}  // namespace coset::schedule
