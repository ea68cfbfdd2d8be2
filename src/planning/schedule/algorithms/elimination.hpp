// SPDX-License-Identifier: Apache-2.0
// Recursive halving and doubling with 3-2 elimination: any number of ranks without a pre or post step.
#pragma once

#include "planning/schedule/core/schedule.hpp"

namespace coset::schedule {

/// Allreduce. Groups of ranks that hold one partial sum between them merge in pairs, halving what each rank keeps; an odd
/// number of groups merges one triple, whose third group gives half to each of the others and rests until the end.
/// Cost: 2·ceil(log P) rounds if P <= 3·2^(K−1) or P = 2^K (K = floor(log P)), else two more; one read per rank and round;
/// at most 3 vectors sent and 1.5 combined per rank. Same bits on every rank. Source: Rabenseifner and Träff, 2004.
schedule elimination_3_2(rank_t ranks);

}  // namespace coset::schedule
