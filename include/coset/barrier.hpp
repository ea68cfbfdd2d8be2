// SPDX-License-Identifier: Apache-2.0
// barrier: nobody leaves before everybody has come.
#pragma once

#include "coset/detail/collective.hpp"

namespace coset {

/// Returns when every rank of the team has called it; what they wrote before is visible after.
/// Cost: one flag round. Throws mismatch_error on every rank if another one calls something else or has left.
inline void barrier(member& me) { detail::barrier(me.state()); }

}  // namespace coset
