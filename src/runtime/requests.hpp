// SPDX-License-Identifier: Apache-2.0
// Several operations of one thread under way: starting them, and the progress that every call makes for all of them.
#pragma once

#include <cassert>
#include <thread>

#include "runtime/executor.hpp"

namespace coset::runtime {

/// Runs `f` to its end. Live operations of this thread, in whichever of its teams, advance meanwhile: a peer may need
/// them before it comes here.
void complete(detail::rank_state&, flight& f);
/// Runs a call to its end, and lets the listener hear of each segment; between hosts, where segments overlap, of all of it.
void complete_by_segment(detail::rank_state&, detail::bound_plan const&, detail::call const&,
                         detail::segment_listener const&);

/// Every live operation of this thread, in whichever of its teams, as far as it goes without waiting. Whether that
/// brought any of them on.
bool advance_all(detail::rank_state& root);

/// Takes the next channel, in turn, so that ranks that start the same operations in the same order meet; completes the
/// operation that still has it.
request launch(detail::rank_state&, detail::bound_plan const&, void const* in, void* out,
               std::shared_ptr<void const> operation, void (*deliver)(void const*, void*) noexcept = nullptr,
               void* delivered_to = nullptr);
/// Whether the next channel is free.
bool may_launch(detail::rank_state const&) noexcept;

/// Gives up live operations in a team: if there are any, fails the team and waits until no other rank touches this
/// rank's arrays.
void abandon_requests(detail::rank_state&) noexcept;
/// The same in this team and in those that were split from it.
void abandon_requests_of_all(detail::rank_state&) noexcept;

[[noreturn]] void refuse_use(detail::rank_state const&);
/// Refuses to go on with a team whose run() or membership has ended, inside the caller's operation, and in a forked child.
inline void require_current(detail::rank_state const& me) {
  assert(me.here.thread == std::this_thread::get_id() && "a member is used by another thread than its rank's");
  if (me.root.requests.process != numa::process_number() ||
      me.shared.marks.generation != me.shared.root.marks.generation) [[unlikely]]
    refuse_use(me);
}

}  // namespace coset::runtime
