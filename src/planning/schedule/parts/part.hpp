// SPDX-License-Identifier: Apache-2.0
// What one host does of a schedule for many: its own ranks' assignments, what it reads of other hosts, what these read of it.
#pragma once

#include <span>
#include <vector>

#include "planning/schedule/core/schedule.hpp"

namespace coset::schedule {

/// What a rank of another host holds.
struct remote_value {
  rank_t rank;
  slot_t slot;
  bool partial;  ///< the result of a fold, and folded further by somebody
  friend bool operator==(remote_value const&, remote_value const&) = default;
};

/// What another host reads of this one, in the step in which it does so first.
struct departure {
  rank_t from;  ///< counted within this host
  block_t block;
  slot_t slot;
  rank_t to;     ///< the first to read it there
  slot_t named;  ///< its slot as `to` has it, remote_value::slot
  bool partial;  ///< as of remote_value
  friend bool operator==(departure const&, departure const&) = default;
};

/// One host's part. Nothing in it is of the size of the whole, unless every host exchanges values with all others.
struct part {
  schedule own;      ///< of this host's ranks, counted from 0; a source of rank own.ranks is `remote[slot]`
  rank_t first = 0;  ///< number of this host's first rank in the whole
  std::vector<remote_value> remote;
  std::vector<std::vector<departure>> departures;  ///< [step]
  /// Of the whole, whose lengths are rounded where blocks are cut; this host need not tell all of them apart.
  std::size_t blocks = 1;
  slot_t most_values = 1;  ///< of one block on one rank of any host, with all that its host reads elsewhere
  bool alike = false;      ///< all hosts do the same, each with its own ranks and blocks
};

/// Blocks that lie side by side and are treated alike here become one. Other hosts may merge others.
void merge_alike_blocks(part&);

/// Block b becomes the one at `position[b]`. All blocks have to be of one size, or the caller puts theirs in order.
void move_blocks(schedule&, std::vector<block_t> const& position);
void move_blocks(part&, std::vector<block_t> const& position);

}  // namespace coset::schedule
