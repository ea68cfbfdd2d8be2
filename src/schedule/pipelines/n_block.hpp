// SPDX-License-Identifier: Apache-2.0
// Broadcast of blocks in the fewest steps, for every number of ranks.
#pragma once

#include <vector>

#include "schedule/core/schedule.hpp"

namespace coset::schedule {

/// s_0 = 1 … s_q = P, each half of the next one, rounded up: q = ceil(log2 P).
std::vector<std::uint64_t> halving_skips(rank_t ranks);

/// Which block the rank `distance` behind the root receives in the rounds k = 0 … q−1, of the rank s_k before it; every q
/// rounds later the block q behind. Negative ones do not exist yet. A rank sends in round k what the rank s_k behind it receives.
/// Among the q numbers are its first block b, received before any other, and all of −q … −1 but b − q.
/// Cost: O(log P), for each rank alone.
std::vector<int> received_blocks(rank_t ranks, rank_t distance);

/// broadcast, reduce, or allreduce as the one after the other, of n equal blocks. allgather and reduce_scatter too, where
/// every rank is the root of its piece, all at once, and each piece has n blocks.
/// Cost: n − 1 + ceil(log2 P) steps each way, the least possible; a rank reads and gives one block per step at most, of
/// each piece. Rank order is not kept.
/// Source: Träff, Optimal Broadcast Schedules in Logarithmic Time with Applications to Broadcast, All-Broadcast, Reduction
/// and All-Reduction, 2024.
schedule n_block(rank_t ranks, collective verb, rank_t root, block_t blocks);

}  // namespace coset::schedule
