// SPDX-License-Identifier: Apache-2.0
// Two trees, each of which carries half of the blocks.
#pragma once

#include "planning/schedule/core/schedule.hpp"

namespace coset::schedule {

/// broadcast, reduce, or allreduce as the one after the other, of n equal blocks.
///
/// The ranks but the root form two binary trees in rank order. Ranks with children in the one tree are leaves of the other.
/// Blocks go by turns to the one tree and the other. Edges have two colours, such that the edges over which a rank reads
/// differ, and those over which it gives, and are used in turns: a rank reads and gives one block per step at most.
/// Cost: at most n + 2·ceil(log2 P) steps each way for even n, 2 less unless P is a power of two.
/// Keeps rank order if the root is the first rank or the last, which it is of an allreduce.
/// Source: Sanders, Speck and Träff, Two-tree algorithms for full bandwidth broadcast, reduction and scan, 2009. There the
/// second tree is the first one mirrored or shifted, without order; to keep order it has one more level if P is a power of two.
schedule two_trees(rank_t ranks, verb what, rank_t root, block_t blocks);

}  // namespace coset::schedule
