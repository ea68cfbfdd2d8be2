// SPDX-License-Identifier: Apache-2.0
// What gather, scatter and all_to_all do where one plan does not do.
#pragma once

#include "coset/detail/collective.hpp"

namespace coset::inline COSET_ABI::detail {

struct bound_plan;

/// all_to_all of pieces of any length between processes: each proxy sends and receives for its ranks what they have for the
/// ranks of other proxies, through a room whose size depends on neither lengths nor ranks. To be called once all that a
/// rank has to know of its pieces lies in its exchange_memory, which they have `told` each other by that plan; returns once
/// nobody reads its arrays any more.
void exchange_by_messages(rank_state&, bound_plan const& told);

/// A gather, scatter or all_to_all for which staging has no room, segment by segment: of each piece the next few elements,
/// packed. `run_whole` runs a call, or says that staging has no room for that one either; of one element of each piece it throws
/// lacks_staging then.
void run_in_segments(rank_state&, call const&, bool (*run_whole)(rank_state&, call const&));

}  // namespace coset::detail
