// SPDX-License-Identifier: Apache-2.0
// Swing and Bine on an odd number of ranks, on which there is no dihedral group: one rank beside a fold of the others.
#pragma once

#include "planning/schedule/core/schedule.hpp"
#include "planning/schedule/groups/fold.hpp"

namespace coset::schedule {

/// Allreduce of the ranks of `others` and of a last one. The others reduce their own pieces along `steps`, of one shift each.
/// Meanwhile the last rank meets each of them once: they exchange their inputs of each other's pieces. The results go back so.
/// Cost: twice the steps of `steps`. Every rank reads and sends 2(P−1)/P of the vector, the least. In one step the last rank
/// meets as many others as these read blocks, and one more, until it has met all. Same bits on every rank.
/// Source: De Sensi et al., Swing, NSDI 2024, for one more rank that exchanges with all others.
schedule swing_beside_last(group const& others, chain const& steps);

/// Allreduce of the ranks of `others` and of a last one, where `others` is an allreduce whose block b has its result on rank b
/// among others: for folds with saved steps, which reduce a block on several ranks.
/// Cost: the steps of `others`, one more if rank b has its block only after the last of them.
schedule beside_last(schedule others);

/// Allreduce along a tree to `owner` and back: the way of one block in swing's exchanges, for the whole vector.
/// Cost: ceil(log P) steps each way, for any owner; every rank reads one other in a step.
/// Source: De Sensi et al., Bine trees, SC 2025, for even numbers of ranks.
schedule bine_tree(rank_t ranks, rank_t owner, bool far_first);

}  // namespace coset::schedule
