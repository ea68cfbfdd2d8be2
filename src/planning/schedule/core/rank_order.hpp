// SPDX-License-Identifier: Apache-2.0
// Rank order out of cyclic order: for operations that do not commute.
#pragma once

#include "planning/schedule/core/schedule.hpp"

namespace coset::schedule {

/// Splits every value where it wraps from the last rank to rank 0 into the part before and the part after, in slots of
/// their own, and joins them the right way round where a value becomes complete. The result is `ordered`.
///
/// Wants an allreduce whose folds join runs of ranks in cyclic order: ring and dilated as generated, Bruck–Ho,
/// dissemination. Throws schedule_error with the first fold that does not.
/// Cost: the same steps; values that wrap are transferred in two parts. For dilated with radix 2 under half a vector more.
/// The construction is the usual pair (hi, lo) of a run: hi up to the last rank, lo from rank 0.
schedule in_rank_order(schedule const& cyclic);

}  // namespace coset::schedule
