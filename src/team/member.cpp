// SPDX-License-Identifier: Apache-2.0
// A rank's handle, and the teams that ranks split from theirs.

#include <algorithm>
#include <array>
#include <utility>

#include "coset/team.hpp"
#include "coset/verbs/allgather.hpp"
#include "coset/verbs/barrier.hpp"
#include "runtime/requests.hpp"
#include "team/team_state.hpp"

namespace coset {

using namespace runtime;
using namespace team_room;

namespace {

/// What each rank tells the others when a team is split.
struct wish {
  int colour, key;
  rank_t rank;
};

/// The ranks of one colour, in the order of (key, rank).
std::vector<rank_t> ranks_of(int colour, std::vector<wish> wishes) {
  std::erase_if(wishes, [colour](wish const& w) { return w.colour != colour; });
  std::stable_sort(wishes.begin(), wishes.end(), [](wish const& a, wish const& b) { return a.key < b.key; });
  std::vector<rank_t> ranks;
  for (wish const& w : wishes) ranks.push_back(w.rank);
  return ranks;
}

std::vector<rank_t> in_root(detail::team_state const& team, std::vector<rank_t> ranks) {
  for (rank_t& r : ranks) r = team.shared.root_ranks[r];
  return ranks;
}

}  // namespace

rank_t member::rank() const noexcept { return state_->number; }
rank_t member::size() const noexcept { return state_->shared.size(); }
unsigned member::node() const noexcept { return state_->here.node; }

/// The first rank of each colour makes the team and offers it to the others; no rank goes on before all have taken it.
/// Offers are kept in the team, not on a stack, as an abort may make a rank leave at any point.
member member::split(int colour, int key) {
  detail::team_state& team = state_->team;
  if (!team.shared.kind.one_memory())
    detail::refuse(*state_, "split: ranks of several processes share no memory and cannot form a team");
  if (team.membership.lent)
    detail::refuse(*state_, "split: threads that join a team over processes cannot form a part of it");
  std::vector<wish> wishes(team.shared.ranks);
  allgather(*this, std::array{wish{colour, key, state_->rank}}, wishes);
  std::vector<rank_t> const ranks = ranks_of(colour, wishes);

  bool const first = ranks.front() == state_->rank;
  if (first)
    team.membership.offers.offer(state_->rank, std::make_shared<detail::team_state>(team.root, in_root(team, ranks)));
  barrier(*this);
  std::shared_ptr<detail::team_state> mine = team.membership.offers.offered_by(ranks.front());
  barrier(*this);
  if (first) team.membership.offers.offer(state_->rank, nullptr);

  auto const self = static_cast<rank_t>(std::find(ranks.begin(), ranks.end(), state_->rank) - ranks.begin());
  mine->make_rank(self, &state_->root);
  return member(std::move(mine), self);
}

member member::node_team() { return split(static_cast<int>(node())); }

void member::reset(clock::time_point deadline) {
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

void member::leave() noexcept {
  if (!own_) return;
  if (own_->shared.marks.generation == own_->shared.root.marks.generation) abandon_requests(*state_);
  own_->members[state_->rank].reset();
}

}  // namespace coset
