// SPDX-License-Identifier: Apache-2.0
// Where all ranks of a team meet that cannot meet in a collective, because the team has failed.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "coset/error.hpp"

namespace coset::team_room {

/// Not on any hot path: one mutex.
class reset_barrier {
 public:
  using clock = std::chrono::steady_clock;

  /// Returns once `ranks` threads have come; the last one calls `together` before any thread goes on.
  /// Throws timed_out at the deadline; then the others have not met either.
  template <class Together>
  void meet(rank_t ranks, clock::time_point deadline, Together together) {
    std::unique_lock lock(mutex_);
    std::uint64_t const round = round_;
    came_ = ++present_ == 1 ? 1 : std::max(came_, present_);
    if (present_ == ranks) {
      present_ = 0;
      ++round_;
      together();
      all_here_.notify_all();
    } else if (!all_here_.wait_until(lock, deadline, [&] { return round_ != round; })) {
      give_up(ranks);
    }
  }

 private:
  [[noreturn]] void give_up(rank_t ranks);

  std::mutex mutex_;
  std::condition_variable all_here_;
  rank_t present_ = 0;
  rank_t came_ = 0;  ///< the most that have waited together, until none does
  std::uint64_t round_ = 0;
};

}  // namespace coset::team_room
