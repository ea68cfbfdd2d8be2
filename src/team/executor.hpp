// SPDX-License-Identifier: Apache-2.0
// The one loop that runs every program.
#pragma once

#include "team/rank_state.hpp"

namespace coset::team_room {

/// Prepares an operation on a channel; nothing is sent or waited for yet. `in` and `out` are the caller's.
flight prepare(detail::rank_state&, std::uint32_t channel, detail::bound_plan const&, void const* in, void* out,
               void const* operation);

/// Makes it this rank's next operation, on its channel, and tells the others: they see what it is, whatever they wait
/// for. Once, before advance().
void announce(detail::rank_state&, flight&);

/// Goes on as far as peers allow. Blocking: returns true when all is done. Otherwise: false at the first wait that is not
/// over yet; the next call goes on there. Throws what the team failed with, after peers have let go of this rank's memory.
template <bool Blocking>
bool advance(detail::rank_state&, flight&);

extern template bool advance<true>(detail::rank_state&, flight&);
extern template bool advance<false>(detail::rank_state&, flight&);

}  // namespace coset::team_room
