// SPDX-License-Identifier: Apache-2.0
// Ranks that wait for one another in different teams: what no two of them can see is seen once all of them wait.
#pragma once

#include "runtime/rank_state.hpp"

namespace coset::runtime {

/// Called now and then by a thread that blocks, after a look in vain at everything that it waits for. If every thread of
/// the team blocks, and nothing can come from elsewhere, the team fails with what each of them is doing.
void note_standing(detail::rank_state&);

/// Called by a thread that goes on after that.
void stop_standing(detail::rank_state& root) noexcept;

}  // namespace coset::runtime
