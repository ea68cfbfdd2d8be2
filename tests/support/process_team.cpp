// SPDX-License-Identifier: Apache-2.0
#include "support/process_team.hpp"

#include <thread>
#include <utility>

#include "runtime/requests.hpp"

namespace coset::team_room {
namespace {

node_list everywhere(rank_t ranks) { return node_list(ranks, anywhere); }

std::unique_ptr<detail::team_state> state_of(numa::memory shared, rank_t rank, rank_t ranks, team_options options) {
  auto state = std::make_unique<detail::team_state>(
      team_shape{ranks, {}, everywhere(ranks), false, {}, choice::table::of_environment()}, std::move(options),
      std::move(shared));
  state->make_rank(rank).here.thread = std::this_thread::get_id();
  return state;
}

}  // namespace

std::size_t process_team::bytes_for(rank_t ranks, std::size_t staging_bytes) {
  return arena::bytes_for(everywhere(ranks), staging_bytes);
}

process_team::process_team(numa::memory shared, rank_t rank, rank_t ranks, team_options options)
    : state_(state_of(std::move(shared), rank, ranks, std::move(options))), self_(*state_->members[rank]) {}

process_team::~process_team() {
  abandon_requests(self_.state());
  // Partner: the acquire load of whoever waits for this rank in vain.
  state_->shared.left(self_.rank()).store(state_->shared.marks.generation, std::memory_order_release);
}

}  // namespace coset::team_room
