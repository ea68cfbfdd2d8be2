// SPDX-License-Identifier: Apache-2.0
// Proves by enumeration that a schedule does what its verb requires, and measures it.
#pragma once

#include "planning/schedule/core/schedule.hpp"

namespace coset::schedule {

/// What a schedule costs and keeps. Volumes in vectors of m, the largest over the ranks, summed over the steps.
struct properties {
  std::uint32_t steps = 0;    ///< those with a remote source
  fraction sent_max;          ///< read by peers; own reads are free
  fraction received_max;      ///< read from peers; the same (rank, slot, block) twice in a step counts once
  fraction combined_max;      ///< a fold of k sources combines k − 1 times
  fraction volume_bound;      ///< no schedule of this verb has both sent_max and received_max below it
  std::uint32_t fan_in = 0;   ///< most peers that one rank reads from in one step
  bool rank_uniform = false;  ///< ranks with the same result have bracketed it identically: same bits everywhere
  bool ordered = false;       ///< every result folds its contributors in rank order: serves non-commutative operations
};

/// Throws schedule_error unless there are ranks, blocks that tile the vector, and a result for each rank and block.
void check_shape(schedule const&);

/// In vectors: what some rank has to send or to receive, whatever the schedule.
fraction volume_bound(verb, rank_t ranks);

/// Executes the schedule symbolically, block by block.
/// Throws schedule_error with the first violation and its place: a malformed or missing block, rank, source or result, a
/// slot written twice, a value read before it exists, a result whose contributors are not those that the verb requires or, unless
/// `idempotent_only`, are counted twice: then the place is where that first happened. Also if the proof would not fit a
/// common machine: P²/8 bytes, and P/8 for each distinct fold of one block, are at most 4 GiB.
/// Cost: one expected-constant table access per fold, plus P/64 words per distinct fold.
properties validate(schedule const&);

}  // namespace coset::schedule
