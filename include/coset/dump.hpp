// SPDX-License-Identifier: Apache-2.0
// Where the ranks of a team are: for programs that seem to hang.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <iosfwd>

#include "coset/detail/visibility.h"
#include "coset/plan.hpp"

namespace coset {

/// Writes where the ranks of a team are: a line for each group of ranks that are alike, which says in what operation and
/// step they wait, for whom and for how long; else which operation they began last. Ranks tell that they wait once they have
/// done so for some microseconds. Of a team over processes: the ranks with which this process shares memory.
///
/// Any thread may call it at any time while the team lives, one that is no rank too, such as a thread that waits for
/// signals; but no signal handler, as it allocates. It takes no lock of coset's and keeps no rank waiting. Ranks go on
/// meanwhile, so what is said of one may be older than what is said of another.
/// Cost: some µs, and one cache line or more of each rank.
COSET_API void dump(detail::any_team, std::ostream&);

}  // namespace coset
