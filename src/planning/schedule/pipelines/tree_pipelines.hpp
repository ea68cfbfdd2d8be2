// SPDX-License-Identifier: Apache-2.0
// Pipelines along one tree, or along two whose roots exchange.
#pragma once

#include "planning/schedule/core/schedule.hpp"

namespace coset::schedule {

/// broadcast, reduce, or allreduce as the one after the other, of n equal blocks along one tree in which every rank has at
/// most `degree` children: 1 is a chain.
/// Cost: n − 1 + P − 1 steps each way of a chain; of a tree with d children to a rank d steps a block and d a level. A rank
/// reads and gives one block per step at most.
/// Keeps rank order; of a chain only if its root is rank 0, where it begins: it goes on from the last rank to the first.
schedule pipelined_tree(rank_t ranks, verb what, rank_t root, rank_t degree, block_t blocks);

/// allreduce along two trees, one of the lower half of the ranks and one of the upper: blocks go up while finished ones come
/// down, and the two roots exchange theirs. derive() makes other verbs of it.
/// Cost: d + 1 steps a block where ranks have d children; with two trees of 2^h − 1 ranks and degree 2 these are
/// 4h − 3 + 3(n − 1). A rank reads and gives one block per step at most. Same bits on every rank; keeps rank order.
/// Source: Träff, A Doubly-pipelined, Dual-root Reduction-to-all Algorithm and Implementation, 2021.
schedule dual_root(rank_t ranks, rank_t degree, block_t blocks);

}  // namespace coset::schedule
