// SPDX-License-Identifier: Apache-2.0
// A team: what its ranks share, its plans, and how threads come to be its ranks.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "coset/plan.hpp"
#include "coset/team.hpp"
#include "coset/topology.hpp"
#include "planning/calibration/memory_facts.hpp"
#include "planning/choice/rules/table.hpp"
#include "planning/plan/plan_store.hpp"
#include "runtime/memory/shared_memory.hpp"
#include "runtime/rank_state.hpp"
#include "team/reset_barrier.hpp"
#include "team/split/parts.hpp"
#include "team/threads/circumstances.hpp"

namespace coset::team_room {

using namespace runtime;  // this room stands on that one

class workers;
class adopted_threads;
class lent_threads;

/// Teams that ranks have split from this one, until the others have taken them. An offer keeps the team that made it.
class split_offers {
 public:
  void offer(rank_t by, std::shared_ptr<detail::team_state>);
  std::shared_ptr<detail::team_state> offered_by(rank_t) const;
  /// Withdraws the offers that ranks did not take because they failed before.
  void withdraw();

 private:
  mutable std::mutex offering_;
  std::map<rank_t, std::shared_ptr<detail::team_state>> offers_;
};

/// Where a team's ranks are and what binds them together.
struct team_shape {
  rank_t ranks;
  std::vector<processor> places;  ///< [rank]; empty where ranks are wherever their threads run
  runtime::node_list nodes;       ///< [rank]: of its memory, as the system numbers it
  bool pinned = false;
  calibration::memory_facts memory = {};  ///< of the machine; the same for all ranks
  choice::table choices = {};             ///< what comes before the library's own choice
  bool tasks = false;                     ///< ranks are no threads, and wait for nothing
};

/// Until the process ends: threads that cannot be ended run on, and in a forked child those that are not there have left
/// nothing complete.
void keep_for_good(std::shared_ptr<detail::team_state>) noexcept;

/// How threads come to be ranks, and to be ranks of parts.
struct membership {
  membership();
  ~membership();

  std::unique_ptr<team_room::workers> workers;          ///< owning teams
  std::optional<circumstances> asked_in;                ///< … that may stand for others once they have ended
  std::unique_ptr<team_room::adopted_threads> adopted;  ///< adopted teams
  std::unique_ptr<team_room::lent_threads> lent;        ///< larger teams of an adopted one's threads
  std::atomic<bool> task_run_open = false;              ///< teams of tasks
  team_room::reset_barrier resetting;
  split_offers offers;
  std::unique_ptr<team_room::parts> parts;  ///< split from a team over processes
};

}  // namespace coset::team_room

namespace coset::inline COSET_ABI::detail {

struct team_state : std::enable_shared_from_this<team_state> {
  team_state(team_room::team_shape const&, team_options);
  /// Ranks of processes that share memory, for tests: `own_memory` is this process's mapping of it, zeroed before the
  /// first came.
  team_state(team_room::team_shape const&, team_options, numa::memory own_memory);
  /// Part of a team, of one process: `there` are its ranks' numbers in the root.
  team_state(team_state& split_from, std::vector<rank_t> const& there);
  /// Part of a team over processes: what of it shares memory with ranks of this process, as below. `in_origin`: their
  /// numbers in the domain that it was split from.
  team_state(team_state& split_from, runtime::domain const&, std::vector<rank_t> const& there,
             std::vector<rank_t> in_origin, numa::memory own_memory, team_room::part_identity);
  /// A domain of a larger team, which is to serve the ranks of `threads`; if those are not all of the domain,
  /// `own_memory` is as above, and the others' numbers in `there` do not matter.
  team_state(team_state& threads, runtime::domain const&, std::vector<rank_t> const& there, numa::memory own_memory);
  ~team_state();

  /// Makes a rank; by the thread that is to be it, where there is one. `in_root`: the same thread's, of the root.
  rank_state& make_rank(rank_t, rank_state* in_root = nullptr);

  /// Itself, or what it was split from at first: a root, or a domain of a team over processes.
  team_state& origin() noexcept { return part.origin != nullptr ? *part.origin : *this; }

  /// Where it stands for another team from now on: nothing that refers to its ranks does any more, and nothing has been said of it.
  /// Only while no rank runs.
  void begin_another_life() noexcept;
  /// Starts a generation: every rank's channels agree again, whatever the last one ended with. Only while no rank runs.
  void begin_generation();
  /// The same where processes have agreed on the round and on where to go on. The failure is theirs to clear.
  void begin_shared_round(std::uint32_t round, std::array<runtime::channel_position, runtime::channels> const&);
  /// Its two halves: where ranks of this process have come to in each channel, and that all go on from there.
  std::array<runtime::channel_position, runtime::channels> furthest() const;
  void settle(std::array<runtime::channel_position, runtime::channels> const&);

  team_state& root;                         ///< itself, or the team of its threads
  std::shared_ptr<team_state> const whole;  ///< keeps it and the origin, where this team may outlive them
  team_options const options;
  team_room::team_shape const shape;
  unsigned const processors;               ///< that this process could use when the root was made: to ask takes long
  std::vector<rank_t> const node_leaders;  ///< [rank]: the first rank on its node
  runtime::shared_memory shared;
  planning::plan_store plans;
  team_room::part_identity part;
  std::vector<std::unique_ptr<rank_state>> members;  ///< [rank]
  std::size_t reserved_bytes = 0;
  team_room::membership membership;

 private:
  /// Which teams its ranks belong to besides: those of null are none.
  struct descent {
    team_state *root, *origin;
    std::vector<rank_t> in_root, in_origin = {};

    runtime::descent of_memory() const;
  };
  /// By reference, as those who call it look at the memory's size among the other arguments.
  team_state(descent, team_room::team_shape const& s, team_options wanted, numa::memory&& own_memory,
             runtime::domain = {}, team_room::part_identity = {});
  void forget_operations();
  void settle_views();
};

}  // namespace coset::detail
