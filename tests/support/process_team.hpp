// SPDX-License-Identifier: Apache-2.0
// A team whose ranks are processes of one machine: the same executor over an arena that all of them map.
#pragma once

#include <memory>

#include "team/team_state.hpp"

namespace coset::team_room {

/// One process's membership. Programs keep to staging, as nobody reaches another's arrays, and staging cannot grow:
/// longer vectors go in segments. A process that dies leaves the others waiting: they start operations and give them a
/// deadline. There is no reset: a failed team stays failed.
class process_team {
 public:
  /// Of the memory that `ranks` processes share, with staging of `staging_bytes` per rank, parity and channel.
  static std::size_t bytes_for(rank_t ranks, std::size_t staging_bytes);

  /// `shared` is this process's mapping of zeroed memory of that size, wherever it lies. Who comes first need not wait.
  process_team(numa::memory shared, rank_t rank, rank_t ranks, team_options = {});
  ~process_team();  ///< leaves: whoever still waits for this rank throws mismatch_error

  member& self() noexcept { return self_; }

 private:
  std::unique_ptr<detail::team_state> state_;
  member self_;
};

}  // namespace coset::team_room
