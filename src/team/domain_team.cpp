// SPDX-License-Identifier: Apache-2.0
#include "team/domain_team.hpp"

#include <utility>

#include "runtime/requests.hpp"
#include "team/threads/lent_threads.hpp"

namespace coset::team_room {
namespace {

/// [rank of the domain]: its number among the threads; 0, which is not used, for ranks of other processes.
std::vector<rank_t> threads_of(rank_t ranks, rank_t here, rank_t threads) {
  std::vector<rank_t> there(ranks, 0);
  for (rank_t t = 0; t < threads; ++t) there[here + t] = t;
  return there;
}

}  // namespace

domain_team::domain_team(detail::team_state& threads, domain const& part, rank_t ranks, rank_t here,
                         numa::memory shared)
    : threads_(threads),
      here_(here),
      state_(std::make_shared<detail::team_state>(threads, part, threads_of(ranks, here, threads.shared.ranks),
                                                  std::move(shared))) {
  for (rank_t t = 0; t < threads.shared.ranks; ++t) {
    state_->make_rank(here + t, threads.members[t].get());
  }
  state_->membership.parts = std::make_unique<parts>(part.first + here, threads.shared.ranks);
}

domain_team::~domain_team() { state_->membership.parts->end(); }

void domain_team::for_each_rank(std::function<void(detail::rank_state&)> const& visit) {
  for (auto const& m : state_->members) {
    if (!m) continue;
    for (detail::rank_state* const each : m->root.requests.family) {
      if (&each->team.origin() == state_.get()) visit(*each);
    }
  }
}

void domain_team::lend_threads(std::function<void(rank_t)> failed) {
  state_->membership.lent = std::make_unique<lent_threads>(*state_, here_, threads_.shared.ranks, std::move(failed));
}

void domain_team::leave_for_good() noexcept {
  // Partner: the acquire load of whoever waits for one of them in vain.
  for (rank_t t = 0; t < threads_.shared.ranks; ++t)
    state_->shared.left(here_ + t).store(state_->shared.round(), std::memory_order_release);
}

void domain_team::begin(std::uint32_t round, positions const& together) {
  // What the threads' team is about to begin, unless this is the only one that its threads join; 0 is no generation.
  std::uint32_t const now = threads_.shared.marks.generation;
  if (state_->membership.lent) threads_.begin_generation();
  state_->shared.marks.generation = now + 1 != 0 ? now + 1 : 1;
  state_->begin_shared_round(round, together);
  state_->membership.offers.withdraw();
  state_->membership.parts->begin_round();
}

void domain_team::give_up_messages() {
  for_each_rank([](detail::rank_state& each) {
    for (channel_end& end : each.ends) {
      if (end.messages) end.messages->begin();
    }
  });
}

detail::rank_state& domain_team::rank_of(detail::rank_state& thread) {
  detail::rank_state& mine = *state_->members[here_ + thread.rank];
  mine.here.thread = thread.here.thread;
  return mine;
}

void domain_team::run_rank(member& thread, void (*body)(void*, member&), void* context) {
  detail::rank_state& mine = rank_of(thread.state());
  auto const leave = [&] {
    if (!state_->shared.is_of_this_process()) return;
    abandon_requests_of_all(mine);
    // Partner: the acquire load of whoever waits for this rank in vain.
    if (!state_->shared.kind.one_process)
      state_->shared.left(mine.rank).store(state_->shared.round(), std::memory_order_release);
  };
  try {
    member me(mine);
    body(context, me);
  } catch (std::exception const& thrown) {
    state_->shared.fail(cause::aborted, words("rank %u ended with an exception: %s", mine.number, thrown.what()),
                        std::current_exception());
    state_->shared.quiesce(mine);
    leave();
    throw;
  } catch (...) {
    state_->shared.fail(cause::aborted, words("rank %u ended with an exception", mine.number),
                        std::current_exception());
    state_->shared.quiesce(mine);
    leave();
    throw;
  }
  leave();
}

}  // namespace coset::team_room
