// SPDX-License-Identifier: Apache-2.0
// Waits that take long: the rank tells where it is, the team says once that it is stuck, and the time may run out.
#pragma once

#include "runtime/rank_state.hpp"

namespace coset::runtime {

/// Called now and then by a thread that blocks, after a look in vain at everything that it waits for. The first call of a
/// wait tells the others where this rank is. Later ones fail the team if the wait takes longer than its limit, or if all of
/// its threads stand still; and one rank of the team says on standard error where all of them are, see wait_limits.
/// Cost: a look at the clock, some 50 stores the first time.
void note_waiting(detail::rank_state&, flight const&);

void stop_waiting(detail::rank_state& root) noexcept;
/// Only what others are told of it: for a thread that leaves a team that has failed.
void tell_of_no_wait(detail::rank_state& root) noexcept;

/// Called when a wait is over in which note_waiting() may have been called.
inline void note_moving(detail::rank_state& root) noexcept {
  if (root.acts.waiting.since != 0) [[unlikely]]
    stop_waiting(root);
}

}  // namespace coset::runtime
