// SPDX-License-Identifier: Apache-2.0
// barrier: no rank leaves before all ranks have come.
#pragma once

#include "coset/detail/cxx20.hpp"

#include "coset/detail/collective.hpp"

namespace coset::inline COSET_ABI {

/// Returns when every rank of the team has called it; what the ranks wrote before is visible afterwards.
/// Cost: one flag round. Throws mismatch_error on every rank if a rank calls something else or has left.
inline void barrier(member& me) { detail::run(me.state(), detail::meeting()); }

/// The same in split phase: complete once every rank has started it.
[[nodiscard]] inline request start_barrier(member& me) { return detail::start(me.state(), detail::meeting(), nullptr); }

}  // namespace coset
