// SPDX-License-Identifier: Apache-2.0
// A schedule as ranks without common memory carry it out: messages before each step's folds.
#pragma once

#include <tuple>
#include <vector>

#include "planning/schedule/core/schedule.hpp"

namespace coset::schedule {

/// A value of one rank.
struct message_piece {
  block_t block;
  slot_t slot;
  friend auto operator<=>(message_piece const&, message_piece const&) = default;
};

/// Everything that `to` reads of `from` in a step and has not read before, in order.
struct message {
  rank_t from, to;
  std::vector<message_piece> pieces;
};

/// [step]: its messages by sender, then receiver. A value that a rank has read once it keeps, so that no message has it
/// again. The schedule must have passed validate().
std::vector<std::vector<message>> messages_of(schedule const&);

/// Of a vector, so that products of their number and a rest fit.
inline constexpr std::uint64_t most_parts = std::uint64_t{1} << 31;

/// Element or byte at which a block of a vector of so many begins; of the last block and one, the end.
class cuts {
 public:
  /// Throws schedule_error if the blocks' sizes have no common unit of at least one of most_parts.
  cuts(schedule const&, std::uint64_t length);
  std::uint64_t begin(block_t b) const { return begins_[b]; }
  std::uint64_t length(block_t b) const { return begins_[b + 1] - begins_[b]; }
  std::uint64_t length(message const&) const;

 private:
  std::vector<std::uint64_t> begins_;
};

/// "generalized(radix=2,saved_steps=1), allreduce on 7 ranks", for comments: nothing but printable ASCII, nothing that ends one.
std::string title_of(schedule const&);

}  // namespace coset::schedule
