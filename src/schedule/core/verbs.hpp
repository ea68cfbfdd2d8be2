// SPDX-License-Identifier: Apache-2.0
// Every verb out of an allreduce, by leaving out what it does not need.
#pragma once

#include "schedule/core/schedule.hpp"

namespace coset::schedule {

/// An allreduce as another verb:
/// reduce and reduce_scatter keep the results that the verb has, and what leads to them;
/// broadcast and allgather keep the origin's contribution only, so folds become copies, at most one per rank and block;
/// barrier is the allreduce itself. Blocks are cut at the ranks' pieces where the verb needs it.
/// Throws schedule_error for scans, and if the root is no rank.
schedule derive(schedule allreduce, collective verb, rank_t root = 0);

/// Drops the results that the schedule's verb has not.
void keep_required_results(schedule&);

/// Leaves out assignments that no result depends on, and renumbers the slots densely.
void prune(schedule&);

}  // namespace coset::schedule
