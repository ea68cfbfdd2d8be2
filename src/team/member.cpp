// SPDX-License-Identifier: Apache-2.0
// A rank's handle.

#include <utility>

#include "coset/team.hpp"
#include "runtime/requests.hpp"
#include "team/team_state.hpp"

namespace coset::inline COSET_ABI {

using namespace runtime;
using namespace team_room;

rank_t member::rank() const noexcept { return state_->number; }
rank_t member::size() const noexcept { return state_->shared.size(); }
unsigned member::node() const noexcept { return state_->here.node; }

void member::reset(clock::time_point deadline) {
  require_this_process(state_->shared, "reset()");
  detail::team_state& team = state_->team;
  if (&team != &team.root || !team.shared.kind.one_process)
    throw argument_error("reset: only for a team of one process that was not split from another");
  if (!team.shared.kind.ranks_may_wait)
    throw argument_error("reset: a team of tasks works again after run(), and tasks may not wait");
  try {
    team.membership.resetting.meet(team.shared.ranks, deadline, [&] { team.begin_generation(); });
  } catch (timed_out const& late) {
    team.shared.fail(cause::timed_out, late.what());
    team.shared.quiesce(*state_);
    throw;
  }
}

member::member(std::shared_ptr<detail::team_state> of_its_own, rank_t rank) noexcept
    : state_(of_its_own->members[rank].get()), own_(std::move(of_its_own)) {}

member::member(member&& other) noexcept : state_(other.state_), own_(std::move(other.own_)) {}

member& member::operator=(member&& other) noexcept {
  if (this == &other) return *this;
  leave();
  state_ = other.state_;
  own_ = std::move(other.own_);
  return *this;
}

member::~member() { leave(); }

/// After a failure, messages of a part may be under way until all processes have ended the run.
void member::leave() noexcept {
  if (!own_) return;
  if (!own_->shared.is_of_this_process()) return keep_for_good(std::move(own_));
  if (own_->shared.marks.generation == own_->shared.root.marks.generation) {
    abandon_requests(*state_);
    if (own_->part.number != 0 && own_->shared.failed()) return own_->origin().membership.parts->keep(own_);
  }
  own_->members[state_->rank].reset();
}

}  // namespace coset
