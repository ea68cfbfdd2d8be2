// SPDX-License-Identifier: Apache-2.0
// Ranks that wait for one another in different teams: what no two of them can see is seen once all of them wait.
#pragma once

#include "runtime/rank_state.hpp"

namespace coset::runtime {

/// Called now and then by a thread that blocks, after a look in vain at everything that it waits for. If every thread of
/// the team blocks, and nothing can come from elsewhere, the team fails with what each of them is doing.
void note_waiting(detail::rank_state&, flight const&);

void stop_waiting(detail::rank_state& root) noexcept;

/// Called when a wait is over in which note_waiting() may have been called.
inline void note_moving(detail::rank_state& root) noexcept {
  if (root.acts.standstill.seen != 0) [[unlikely]]
    stop_waiting(root);
}

}  // namespace coset::runtime
