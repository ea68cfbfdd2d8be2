// SPDX-License-Identifier: Apache-2.0
// Sparse reducers of a team over processes.
#pragma once

#include <vector>

#include "reducer/core.hpp"
#include "runtime/failure/argument_check.hpp"
#include "runtime/rank_state.hpp"

namespace coset::reducer_room {

/// What goes wrong between collectives reaches all ranks.
template <class Work>
decltype(auto) guarded(detail::rank_state& me, Work const& work) {
  try {
    return work();
  } catch (...) {
    runtime::fail_by_thrown(me, "combine");
  }
}

/// The ranks of a process among those of the team.
struct ranks_of_process {
  rank_t first, last;  ///< one past it
  rank_t number() const { return last - first; }
  bool has(rank_t rank) const { return first <= rank && rank < last; }
};

/// Collective: what the copies `from` hold, which are empty then, and those of all other ranks, into each process's target,
/// or one's. A target is complete when all ranks of its process have returned.
void combine_sparse(detail::reducer_core&, void* target, detail::rank_state&, combining,
                    std::vector<owned_copy*> const& from, std::vector<ranks_of_process> const&, destination const&);

}  // namespace coset::reducer_room
