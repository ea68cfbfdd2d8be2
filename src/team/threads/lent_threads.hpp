// SPDX-License-Identifier: Apache-2.0
// Threads of an adopted team as ranks of a larger one, in which they come and go without waiting for each other.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "team/team_state.hpp"

namespace coset::team_room {

/// A round of the larger team lasts until its maker ends it. Meanwhile its ranks keep what they have, whichever thread is
/// there: entering is one exchange of a line that only this rank's threads write.
class lent_threads {
 public:
  /// Ranks [here, here + threads) of `larger`. `failed` is called by a rank that leaves or enters a team that has failed.
  lent_threads(detail::team_state& larger, rank_t here, rank_t threads, std::function<void(rank_t thread)> failed);

  /// See mpi::team::join.
  detail::rank_state& join(rank_t thread);
  /// The calling thread's rank if it has joined as this thread, else null.
  detail::rank_state* joined(rank_t thread) const noexcept;
  void leave(detail::rank_state&) noexcept;

  /// Unless some thread is inside: none enters until open().
  bool close() noexcept;
  void open() noexcept { closed_.store(false, std::memory_order_release); }

 private:
  struct alignas(runtime::line_spacing) seat {
    std::atomic<bool> taken = false;
  };

  detail::team_state& larger_;
  rank_t const here_, threads_;
  std::unique_ptr<seat[]> const seats_;
  std::atomic<bool> closed_ = false;
  std::function<void(rank_t)> const failed_;
};

}  // namespace coset::team_room
