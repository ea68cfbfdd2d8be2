// SPDX-License-Identifier: Apache-2.0
// Recursive doubling for numbers of ranks that are no power of two: by pairing off, or by virtual ranks.
#pragma once

#include "planning/schedule/core/schedule.hpp"

namespace coset::schedule {

/// Allreduce: the P − 2^K last ranks hand their vector to a partner, 2^K ranks double, the partner hands the result back.
/// Cost: K + 2 rounds of one vector, K where P = 2^K. Source: [E] pairwise exchange.
schedule pairwise_exchange(rank_t ranks);

/// Allreduce by 2^ceil(log P) ranks, of which rank v − P plays rank v >= P: some contributions count twice, hence
/// idempotent_only where P is no power of two. Cost: ceil(log P) rounds. Source: [E] butterfly, partner p XOR 2^(l−1).
schedule butterfly(rank_t ranks);

}  // namespace coset::schedule
