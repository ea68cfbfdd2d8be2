// SPDX-License-Identifier: Apache-2.0
// The ranks of a team by processes, and what combinations of their copies have in common.
#pragma once

#include <cstdint>
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

/// All of them, in the order of their ranks; and this rank's.
std::vector<ranks_of_process> processes_of(detail::rank_state const&);
ranks_of_process process_of(detail::rank_state const&);
/// Processes of one rank each share nothing: what they reduce is an ordinary allreduce.
bool are_one_each(detail::rank_state const&);
/// Refuses parts that were split in an order of their own: a process would be taken for several, which have one reducer.
void require_processes_in_order(detail::rank_state&);
/// Besides what their collectives compare: then the next one shows that they differ.
void agree_on(detail::reducer_core const&, detail::rank_state&, combining, destination const&, bool in_place = false);

/// What threads that are no ranks have reduced: each rank of the process brings some of these copies, all ranks the same ones at
/// any time until they combine; and the first rank a total that was viewed.
std::vector<owned_copy*> share_of_others(detail::reducer_core&, detail::rank_state const&, std::uint32_t own,
                                         ranks_of_process here);
/// Folds such copies into the rank's own.
void take_over(detail::reducer_core&, owned_copy& mine, std::vector<owned_copy*> const& others);
/// The same into arrays.
void take_over(detail::reducer_core&, void* const* own, std::vector<owned_copy*> const& others);
/// The copy with this number. Throws argument_error if its values are on their way already.
owned_copy& unoccupied(detail::reducer_core&, std::uint32_t own);
/// What a rank without a copy of its own brings until the call returns: its own becomes the first one of its share, as it is.
enum class lending : std::uint8_t { of_own_copies, of_any };
/// The copy of a rank of a dense reducer, with what it brings besides.
owned_copy& contribution(detail::reducer_core&, detail::rank_state&, std::uint32_t own, ranks_of_process here, lending);

/// A sparse reducer's copies have been exchanged as far as this rank does it. The last rank of a process ends its round.
void note_exchange(detail::reducer_core&, detail::rank_state&, wire_choice const&);
/// Waits until all ranks are here.
void meet(detail::rank_state&);
/// The same before a combination; mismatch_error if the first rank of this process has come with another reducer. Those of other
/// processes are others in any case.
void meet_with(detail::reducer_core const&, detail::rank_state&);

}  // namespace coset::reducer_room
