// SPDX-License-Identifier: Apache-2.0
// Sparse reducers of a team over processes.
#pragma once

#include <cstdint>
#include <vector>

#include "reducer/chunks.hpp"
#include "reducer/core.hpp"
#include "reducer/processes/ranks.hpp"

namespace coset::reducer_room {

/// What one rank sees when its process's copies are combined with the others'.
struct touched_copies {
  owned_copy* mine = nullptr;  ///< whether or not it holds anything
  std::vector<owned_copy*>
      own;  ///< that this rank brings: its copy; and the first rank those of threads that are no ranks
  std::vector<owned_copy*> all;  ///< of the process
  interval share;  ///< elements of which this rank brings what the whole process has, where that is folded first
  std::vector<interval> owned;  ///< [rank]: elements of which it gets what all ranks have
};

/// Nobody adds to a copy any more. `own`: the number of this rank's copy. Throws argument_error if that is under way already.
touched_copies see_copies(detail::reducer_core&, detail::rank_state const&, std::uint32_t own, destination const&);

/// This rank's copy, which then holds all that it brings and may be read as a whole.
owned_copy& whole_copy(detail::reducer_core&, touched_copies const&);

/// Collective: the same choice on all ranks, by the counts of all.
wire_choice agreed_wire(detail::reducer_core&, detail::rank_state&, touched_copies const&, destination const&);

/// Collective: what the copies of all ranks hold, into the elements of `target` that this rank owns. Its own copies are empty
/// then. A target is complete when all ranks of its process have returned.
void exchange_touched(detail::reducer_core&, void* target, detail::rank_state&, combining, touched_copies const&, wire);

}  // namespace coset::reducer_room
