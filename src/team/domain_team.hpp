// SPDX-License-Identifier: Apache-2.0
// The threads of a process as ranks of a larger team, whose other ranks are in other processes.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "team/team_state.hpp"

namespace coset::team_room {

/// This process's ranks are [here, here + threads) among the ranks that share memory. The maker of the team provides
/// the values on which ranks of all processes have to agree, between two rounds, while no rank runs in any process.
class domain_team {
 public:
  /// `shared`: memory of several processes, arena::bytes_for() it, zeroed; empty where the domain is this process's
  /// own.
  domain_team(detail::team_state& threads, domain const&, rank_t ranks, rank_t here, numa::memory shared);

  /// Members of split teams may outlive it, but are then of no use.
  ~domain_team();
  domain_team(domain_team const&) = delete;
  domain_team& operator=(domain_team const&) = delete;

  using positions = std::array<channel_position, channels>;
  positions furthest() const { return state_->furthest(); }
  /// Of an adopted team, whose threads join until it is destroyed; see lent_threads.
  void lend_threads(std::function<void(rank_t thread)> failed);
  /// Before each run() of the threads: `together` is the furthest of all processes' positions, rounds count from 1.
  void begin(std::uint32_t round, positions const& together);
  /// After a run that has failed: what MPI may still write is over then, what it may still read is left to it.
  void give_up_messages();
  /// What each of the threads does in it: the body as rank of the larger team. What it throws fails that team.
  void run_rank(member& thread, void (*body)(void*, member&), void* context);

  /// They have left it, and will not come back.
  void leave_for_good() noexcept;

  detail::team_state& state() const noexcept { return *state_; }

 private:
  /// Of this team and of those split from it.
  void for_each_rank(std::function<void(detail::rank_state&)> const&);
  detail::rank_state& rank_of(detail::rank_state& thread);

  detail::team_state& threads_;
  rank_t const here_;
  std::shared_ptr<detail::team_state> state_;  ///< guards of its ranks keep it
};

}  // namespace coset::team_room
