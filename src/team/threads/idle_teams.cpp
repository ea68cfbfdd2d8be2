// SPDX-License-Identifier: Apache-2.0
#include "team/threads/idle_teams.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iterator>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "choice/rules/settings.hpp"
#include "numa/process/fork.hpp"
#include "team/threads/workers.hpp"
#include "text/log.hpp"
#include "trace/process.hpp"

namespace coset::team_room::idle_teams {
namespace {

using pointer = std::shared_ptr<detail::team_state>;

constexpr std::size_t most_teams = 8;
/// Of staging and views in one team: what has needed more keeps no memory for nobody.
constexpr std::size_t most_bytes = 8 << 20;
constexpr std::size_t most_plans = 256;

struct all_idle {
  all_idle() { teams.reserve(most_teams); }

  numa::fork_safe_mutex guard;
  std::vector<pointer> teams;         ///< which has been idle the longest comes first
  std::vector<std::thread> retiring;  ///< threads that have ended their team, or are about to
  std::uint32_t process = 0;
  std::atomic<bool> closed = false;
};

/// Never destroyed: teams with static storage may end later.
all_idle& idle() {
  alignas(all_idle) static std::byte place[sizeof(all_idle)];
  static auto& those = *::new (place) all_idle;
  return those;
}

/// In a forked child the threads are its parent's: what they have left is neither complete nor to be waited for. Under the lock, by
/// who has asked the system for its process.
void forget_parents(all_idle& all) {
  auto const now = numa::process_number();
  if (std::exchange(all.process, now) == now) return;
  for (pointer& each : all.teams) keep_for_good(std::move(each));
  all.teams.clear();
  if (!all.retiring.empty())
    static_cast<void>(new std::vector(std::move(all.retiring)));  // no destructor may join them
  all.retiring.clear();
}

/// While nobody holds the lock: threads that end may need it.
void end_one(pointer& team) noexcept {
  if (team) team->membership.workers.reset();
  team.reset();
}

void join(std::vector<std::thread>& retiring) noexcept {
  for (std::thread& each : retiring) each.join();
}

/// Without what only this team's owner knows of, which would be somebody else's then.
bool is_like_new(detail::team_state const& team) {
  return team.membership.asked_in && team.membership.workers->are_whole() && !team.shared.failed();
}

bool is_small(detail::team_state& team) {
  return team.shared.arena.grown_bytes() <= most_bytes && team.plans.size() <= most_plans;
}

struct at_exit {
  ~at_exit() {
    idle().closed = true;
    end();
  }
};

}  // namespace

pointer take(circumstances const& asked) {
  if (trace::is_on()) return nullptr;  // each team has a number and journals of its own
  all_idle& all = idle();
  static at_exit const ends_all;
  std::lock_guard const lock(all.guard);
  forget_parents(all);
  // The one that has been idle the shortest: its threads may still look.
  auto const found = std::find_if(all.teams.rbegin(), all.teams.rend(),
                                  [&](pointer const& p) { return *p->membership.asked_in == asked; });
  if (found == all.teams.rend()) return nullptr;
  auto taken = std::move(*found);
  all.teams.erase(std::prev(found.base()));
  taken->membership.workers->stay();
  taken->membership.workers->begin_anew(inherited(asked.scheduled));
  return taken;
}

void keep(pointer team) noexcept {
  all_idle& all = idle();
  auto const time = choice::wanted_idle_time();
  bool const is_kept = !all.closed && !trace::is_on() && time != time.zero() && !text::plans_are_logged() &&
                       team.use_count() == 1 && is_like_new(*team) && is_small(*team);
  if (!is_kept) return end_one(team);
  team->begin_another_life();
  pointer surplus;
  std::vector<std::thread> retiring;
  {
    std::lock_guard const lock(all.guard);
    forget_parents(all);
    if (all.teams.size() == most_teams) {
      surplus = std::move(all.teams.front());
      all.teams.erase(all.teams.begin());
    }
    team->membership.workers->leave_after(time);
    all.teams.push_back(std::move(team));
    retiring.swap(all.retiring);
  }
  end_one(surplus);
  join(retiring);
}

void end() noexcept {
  static_cast<void>(numa::process_number_by_the_system());
  std::vector<pointer> teams;
  std::vector<std::thread> retiring;
  {
    all_idle& all = idle();
    std::lock_guard const lock(all.guard);
    forget_parents(all);
    teams.swap(all.teams);
    all.teams.reserve(most_teams);
    retiring.swap(all.retiring);
  }
  for (pointer& each : teams) end_one(each);
  join(retiring);
}

bool retire(detail::team_state& team) noexcept try {
  all_idle& all = idle();
  pointer own;
  {
    std::lock_guard const lock(all.guard);
    team.membership.workers->stay();
    auto const found = std::ranges::find(all.teams, &team, &pointer::get);
    if (found == all.teams.end()) return false;  // somebody has taken it, or ends it
    all.retiring.reserve(all.retiring.size() + 1);
    all.retiring.push_back(team.membership.workers->own_thread());
    own = std::move(*found);
    all.teams.erase(found);
  }
  end_one(own);
  return true;
} catch (std::bad_alloc const&) {
  return false;
}

}  // namespace coset::team_room::idle_teams
