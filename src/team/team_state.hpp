// SPDX-License-Identifier: Apache-2.0
// What the ranks of a team share.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "coset/plan.hpp"
#include "coset/team.hpp"
#include "coset/topology.hpp"
#include "plan/plan_store.hpp"
#include "team/arena.hpp"
#include "team/failure.hpp"
#include "team/rank_state.hpp"
#include "team/rendezvous.hpp"
#include "team/waiting.hpp"
#include "tuning/calibration/memory_facts.hpp"
#include "tuning/choice/table.hpp"

namespace coset::team_room {

class workers;
class gathering;

/// A team whose ranks do not all share memory: the part of it that does.
struct domain {
  rank_t total = 0;  ///< ranks of the whole team
  rank_t first = 0;  ///< number of this domain's first
  program::distribution spread = {};
  messenger* messages = nullptr;        ///< null where there is one domain only
  bool pointers = true;                 ///< in every domain ranks reach each other's arrays
  bool crowded = false;                 ///< some host has fewer processors than ranks
  std::size_t most_staging = SIZE_MAX;  ///< per rank, parity and channel, in every domain
};

/// Where a team's ranks are and what binds them together.
struct team_shape {
  rank_t ranks;
  std::vector<processor> places;  ///< [rank]; empty where ranks are wherever their threads run
  node_list nodes;                ///< [rank]: of its memory, as the system numbers it
  bool pinned = false;
  tuning::memory_facts memory = {};  ///< of the machine; the same for all ranks
  tuning::table choices = {};        ///< what comes before the library's own choice
  bool tasks = false;                ///< ranks are no threads, and wait for nothing
};

}  // namespace coset::team_room

namespace coset::detail {

struct team_state : std::enable_shared_from_this<team_state> {
  team_state(team_room::team_shape const&, team_options);
  /// Ranks of processes that share memory: `own_memory` is this process's mapping of it, zeroed before the first came.
  team_state(team_room::team_shape const&, team_options, numa::memory own_memory);
  /// Part of a team: `there` are its ranks' numbers in that.
  team_state(team_state& of_whole, std::vector<rank_t> const& there);
  /// A domain of a larger team, which is to serve the ranks of `threads`; if those are not all of the domain, `own_memory`
  /// is as above, and the others' numbers in `there` do not matter.
  team_state(team_state& threads, team_room::domain const&, std::vector<rank_t> const& there, numa::memory own_memory);
  ~team_state();

  /// The same where processes have agreed on the round and on where to go on. The failure is theirs to clear.
  void begin_shared_round(std::uint32_t round, std::array<team_room::channel_position, team_room::channels> const&);
  /// Its two halves: where ranks of this process have come to in each channel, and that all go on from there.
  std::array<team_room::channel_position, team_room::channels> furthest() const;
  void settle(std::array<team_room::channel_position, team_room::channels> const&);
  /// The whole team's size, where ranks of other domains count.
  rank_t size() const noexcept { return part.total; }

  /// Starts a generation: every rank's channels agree again, whatever the last one ended with. Only while no rank runs.
  void begin_generation();
  /// Peers that are inside an instruction which touches another rank's caller memory get to finish it. Only after a
  /// recorded failure: new ones are not begun then.
  void quiesce(rank_state const& leaver) const noexcept;
  /// Records the failure and wakes whoever sleeps.
  void fail(team_room::cause, std::string_view reason, std::exception_ptr original = nullptr) noexcept;

  /// The last round that a rank has left.
  std::atomic<std::uint32_t>& left(rank_t rank) const noexcept {
    return one_process ? root.arena.attention(root_ranks[rank]).left : arena.attention(rank).left;
  }
  /// What ranks of all processes call this generation.
  std::uint32_t round() const noexcept { return one_process ? generation : shared_round; }
  bool failed() const noexcept { return failure.recorded() || root.failure.recorded(); }

  /// Teams that ranks have split from this one, until the others have taken them.
  void offer(rank_t by, std::shared_ptr<team_state>);
  std::shared_ptr<team_state> offered_by(rank_t) const;
  /// Of ranks that failed before they had taken them. An offer keeps the team that made it, so somebody has to.
  void withdraw_offers();

  team_state& root;                         ///< itself, or what it was split from
  std::shared_ptr<team_state> const whole;  ///< keeps the root, where this team was split from it and may outlive it
  rank_t const ranks;
  team_options const options;
  team_room::team_shape const shape;
  std::vector<rank_t> const root_ranks;  ///< [rank]
  bool const crowded;                    ///< ranks that take turns on processors, or rounds that cost as much
  team_room::patience const patience;
  bool const one_process = true;  ///< pointers of one rank mean the same to all
  bool const plain_posts;
  bool const of_tasks;  ///< see task_run
  team_room::arena arena;
  std::vector<std::unique_ptr<rank_state>> members;  ///< [rank], made by the rank's own thread where there is one
  std::vector<rank_t> const node_leaders;            ///< [rank]: the first rank on its node
  team_room::domain const part;  ///< of a team that ranks of other domains belong to; else all of it
  std::uint32_t generation = 0;
  std::uint32_t shared_round = 1;
  std::uint32_t salt = 0;  ///< where the history of this generation's operations begins
  std::size_t reserved_bytes = 0;
  planning::plan_store plans;
  team_room::failure own_failure;           ///< of a root
  team_room::failure& failure;              ///< of the root
  std::atomic<std::uint64_t> question = 1;  ///< of a root, see standstill
  team_room::rendezvous resetting;
  std::unique_ptr<team_room::workers> workers;      ///< owning teams
  std::unique_ptr<team_room::gathering> gathering;  ///< adopted teams
  std::atomic<bool> task_run_open = false;          ///< teams of tasks

 private:
  team_state(team_state* of_whole, team_room::team_shape const& s, std::vector<rank_t> there, team_options wanted,
             numa::memory own_memory, team_room::domain = {});
  void settle_generation() noexcept;
  void forget_operations();
  void settle_views();

  mutable std::mutex offering_;
  std::map<rank_t, std::shared_ptr<team_state>> offers_;
};

}  // namespace coset::detail
