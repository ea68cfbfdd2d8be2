// SPDX-License-Identifier: Apache-2.0
// Pipelines as lists of reads: which rank reads which block of whom in which step.
#pragma once

#include <vector>

#include "schedule/core/schedule.hpp"

namespace coset::schedule {

/// `reader` copies one block of what `giver` holds, or folds it with what it holds itself, the lower rank's value first.
struct block_read {
  rank_t reader, giver;
  block_t block;
  bool folds = false;
};

/// Step by step. No rank writes one block twice in a step.
using read_steps = std::vector<std::vector<block_read>>;

/// Blocks that one rank reads of another at equal distances: block first_block + i·stride in step first_step + i·period.
struct block_stream {
  rank_t reader, giver;
  std::size_t first_step, period;
  bool folds = false;
  block_t first_block = 0, stride = 1;
};

/// Appends the reads of a stream of all blocks below `blocks`; steps are added as they are needed.
void append(read_steps&, block_stream const&, block_t blocks);

/// A broadcast, in which each rank copies a block once, as the reduction to its root: backwards, and every copy is a fold
/// the other way.
read_steps reversed(read_steps const& broadcast);

/// What reads so many equal blocks in these steps.
schedule schedule_of_reads(rank_t ranks, std::size_t blocks, read_steps const&, collective, rank_t root);

/// The schedule of a broadcast from `root`, of its reduction to `root`, or as an allreduce of the one and then the other.
schedule schedule_of_broadcast(rank_t ranks, std::size_t blocks, read_steps broadcast, collective, rank_t root);

}  // namespace coset::schedule
