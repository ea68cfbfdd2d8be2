// SPDX-License-Identifier: Apache-2.0
// The binomial tree over the whole vector, of any radix.
#pragma once

#include "planning/schedule/core/schedule.hpp"

namespace coset::schedule {

/// reduce to `root`, broadcast from it, or allreduce as both.
///
/// Round l joins `radix` neighbouring runs of radix^l ranks; a run's value is held by the root if it lies in the run,
/// else by the run's first rank. So rank order is kept for every root, and a value travels once.
/// Cost: ceil(log_radix P) rounds each way, one vector sent per rank and round.
schedule binomial(rank_t ranks, verb what, rank_t root = 0, rank_t radix = 2);

}  // namespace coset::schedule
