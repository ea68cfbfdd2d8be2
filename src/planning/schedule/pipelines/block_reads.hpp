// SPDX-License-Identifier: Apache-2.0
// Pipelines as lists of reads: which rank reads which block of whom in which step.
#pragma once

#include <vector>

#include "planning/schedule/core/schedule.hpp"

namespace coset::schedule {

/// `reader` copies one block of what `giver` holds, or folds it with what it holds itself, the lower rank's value first.
/// No rank reads one block twice in a step.
struct block_read {
  std::uint32_t step;
  rank_t reader, giver;
  block_t block;
  bool folds = false;
};

/// In any order.
using block_reads = std::vector<block_read>;

/// Of a gigabyte they would have 16 KiB each: more have no sense, and much memory.
inline constexpr block_t most_blocks = 1 << 16;

/// Throws schedule_error for more blocks, or if a schedule for so many ranks would not fit a common machine.
void require_blocks(rank_t ranks, block_t blocks);

/// Appends the first read and those that follow it: of every stride-th block up to the last, each `period` steps later.
void append(block_reads&, block_read first, std::uint32_t period, block_t blocks, block_t stride = 1);

/// What reads so many equal blocks like this. Every rank keeps what it ends with, but of a reduction the root alone.
schedule schedule_of_reads(rank_t ranks, std::size_t blocks, block_reads const&, verb, rank_t root);

/// The same of a broadcast, in which each rank copies a block once. reduce and reduce_scatter are it backwards, with every copy
/// a fold the other way; allreduce is both, one after the other.
schedule schedule_of_broadcast(rank_t ranks, std::size_t blocks, block_reads, verb, rank_t root);

}  // namespace coset::schedule
