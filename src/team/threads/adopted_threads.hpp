// SPDX-License-Identifier: Apache-2.0
// Joining and leaving of threads that a team does not own.
#pragma once

#include <condition_variable>
#include <mutex>
#include <vector>

#include "team/team_state.hpp"

namespace coset::team_room {

/// Throws argument_error in an OpenMP region of fewer threads than these ranks: they would wait for others that do not
/// come.
void require_threads_of_region(rank_t ranks);
bool has_threads_of_region(rank_t ranks);

/// Rounds: all ranks join, then all leave, and so on. Every round is a generation. Not on any hot path: one mutex.
class adopted_threads {
 public:
  explicit adopted_threads(detail::team_state&);

  /// See team::join.
  detail::rank_state& join(rank_t, team::clock::time_point deadline);
  void leave(rank_t) noexcept;
  bool is_attended() const;
  /// To a larger team: until give_back() nobody joins. Throws argument_error if they are in use.
  void lend();
  void give_back() noexcept;

 private:
  void settle(rank_t);
  void settle_on_node(detail::rank_state&) const;
  [[noreturn]] void throw_refusal(rank_t) const;

  detail::team_state& team_;
  topology const machine_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<char> taken_;
  rank_t present_ = 0;
  rank_t came_ = 0;   ///< the most that have waited together, until none does
  bool open_ = true;  ///< ranks may join; closed from the last join to the last leave
  bool lent_ = false;
  bool refused_ = false;  ///< a thread had no memory to join by, as those who wait for it have yet to hear
  std::uint64_t round_ = 0;
};

}  // namespace coset::team_room
