// SPDX-License-Identifier: Apache-2.0
// Building a schedule step by step, from single folds and from whole schedules set on some ranks and a piece of the
// vector.
#pragma once

#include <span>
#include <vector>

#include "planning/schedule/core/schedule.hpp"

namespace coset::schedule {

/// [low, high) of the vector.
struct piece {
  fraction low = 0, high = 1;
};

/// A schedule set on some ranks of a larger one: its rank i is members[i], its vector is `where`.
struct mapped {
  schedule inner;
  std::vector<rank_t> members;
  piece where;
};

/// A schedule under construction. Every rank *holds* one value of each block, at first its input; a fold replaces the
/// value at the end of the step, so that all reads of a step see the values from before it.
class assembly {
 public:
  /// `cuts` are the boundaries between blocks, in any order; repeats, 0 and 1 are harmless.
  explicit assembly(rank_t ranks, std::vector<fraction> cuts = {});

  /// `rank` will hold the fold of what the ranks `from` hold, left to right. One rank in `from` is a copy.
  void fold(rank_t rank, piece where, std::span<rank_t const> from);

  /// A new value of one block beside the held one, for schedules that keep several; returns its slot. Sources may be of
  /// ranks that are none of these, see part.
  slot_t assign(rank_t rank, block_t block, std::span<source const> from);

  /// From the end of this step on, `rank` holds `slot`.
  void hold(rank_t rank, block_t block, slot_t slot);

  /// The slot that `rank` holds now.
  slot_t holds(rank_t rank, block_t block) const { return held_[rank * schedule_.blocks.size() + block]; }

  /// Ends the step; one without assignments leaves no trace, unless it is `kept`.
  void end_step(bool kept = false);

  /// Runs the parts side by side, their first steps together. No rank may be in two parts that share a block.
  void run(std::span<mapped const> parts);

  /// Distributes: repeats the steps from `first` on in reverse order and direction, as copies of the values held then.
  /// Right after any reduction in which every value is read by one rank only: the reads of a block form a tree.
  void mirror(std::size_t first = 0);

  std::size_t steps() const { return schedule_.steps.size(); }
  std::size_t blocks() const { return schedule_.blocks.size(); }

  struct range {
    block_t first, last;
  };
  /// What a piece consists of. Throws schedule_error unless blocks begin and end where it does.
  range blocks_of(piece where) const;

  /// The schedule for allreduce, broadcast (every rank keeps what it holds) or reduce (the root alone does).
  schedule finish(verb what = verb::allreduce, rank_t root = 0) &&;

 private:
  struct update {
    rank_t rank;
    block_t block;
    slot_t slot;
  };
  class running;

  slot_t& held(rank_t rank, block_t block) { return held_[rank * schedule_.blocks.size() + block]; }

  schedule schedule_;
  std::vector<fraction> boundaries_;  // of blocks, 0 and 1 included
  std::vector<slot_t> held_, used_;   // [rank][block]: the current value; the highest slot in use
  std::vector<assignment> step_;      // the open step
  std::vector<update> updates_;       // to held_, at its end
};

/// The boundaries that the blocks of `part` need in the larger schedule, appended to `cuts`.
void append_cuts(mapped const& part, std::vector<fraction>& cuts);

}  // namespace coset::schedule
