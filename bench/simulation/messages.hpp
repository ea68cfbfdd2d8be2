// SPDX-License-Identifier: Apache-2.0
// What ranks send each other in each step, lengths alone.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "command/shown/networks/network.hpp"
#include "planning/schedule/groups/group.hpp"
#include "planning/schedule/model/cost.hpp"
#include "planning/schedule/registry/algorithm.hpp"

namespace coset::simulation {

/// One end of a message: to whom or from whom, and how much, in parts of a vector.
struct message_end {
  rank_t peer;
  std::int64_t volume;
};

/// What one rank does in one step: all messages at once, then its folds.
struct rank_step {
  std::vector<message_end> receives, sends;
  std::int64_t combined = 0;
};

/// The messages of an allreduce, of a vector that goes in segments, each of which is a step behind the one before. Folds over groups are stored once for all ranks, with displacements for peers, others
/// for each rank. A value that a rank has read once it keeps, so that no message has it again.
class messages {
 public:
  /// Of an algorithm by its name. Throws schedule_error as make() does.
  messages(schedule::algorithm const&, rank_t ranks, std::size_t segments = 1);
  /// Of a schedule that validate() has passed.
  explicit messages(schedule::schedule const&);

  rank_t ranks() const { return ranks_; }
  std::size_t steps() const { return steps_.empty() ? 0 : steps_.size() + segments_ - 1; }
  std::int64_t parts_of_a_vector() const { return parts_ * static_cast<std::int64_t>(segments_); }

  /// What `rank` does in a step. `to` is overwritten, so that its memory serves again.
  void look(rank_t rank, std::size_t step, rank_step& to) const;

  /// What crosses the links of a network, and how long that takes.
  schedule::counts on(schedule::network const&, schedule::rank_costs const&) const;

 private:
  void add_all(schedule::schedule const&);
  void add_step(rank_t rank, rank_step const& once, rank_step& to) const;

  schedule::step_messages received_in(std::size_t step) const;

  rank_t ranks_;
  std::size_t segments_ = 1;
  std::int64_t parts_ = 1;                     ///< of a segment
  std::optional<schedule::group> group_;       ///< of what is stored once
  std::vector<std::vector<rank_step>> steps_;  ///< [step][rank], or [step][0]
};

}  // namespace coset::simulation
