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

#include "base/text/log.hpp"
#include "numa/process/fork.hpp"
#include "planning/choice/rules/settings.hpp"
#include "runtime/trace/process.hpp"
#include "team/threads/workers.hpp"

namespace coset::team_room::idle_teams {
namespace {

using pointer = std::shared_ptr<detail::team_state>;

constexpr std::size_t most_teams = 8;
/// Of staging and views in one team: what has needed more keeps no memory for nobody.
constexpr std::size_t most_bytes = 8 << 20;

struct all_idle {
  all_idle() { teams.reserve(most_teams); }

  numa::fork_safe_mutex guard;
  std::vector<pointer> teams;             ///< which has been idle the longest comes first
  std::atomic<std::uint32_t> retiring{};  ///< threads that have ended their team, or are about to
  std::uint32_t process = 0;
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
  all.retiring = 0;
}

/// What the thread of a rank is to destroy last. glibc keeps a library loaded while a thread has such a variable of the library's.
struct thread_of_rank {
  bool is_here = false, retires = false;

  ~thread_of_rank() {
    if (retires) idle().retiring.fetch_sub(1, std::memory_order_release);  // partner: end()
  }
};
thread_local thread_of_rank this_thread;

/// Under the lock. Its threads do not look at their time any more.
pointer taken_out(all_idle& all, std::vector<pointer>::iterator at) {
  pointer team = std::move(*at);
  all.teams.erase(at);
  team->membership.workers->stay();
  return team;
}

/// While nobody holds the lock: threads that end may need it.
void end_one(pointer& team) noexcept {
  if (team) team->membership.workers.reset();
  team.reset();
}

/// Without what only this team's owner knows of, which would be somebody else's then.
bool is_like_new(detail::team_state const& team) {
  auto const& asked_in = team.membership.asked_in;
  return asked_in && asked_in->tell_all() && !team.shared.failed() &&
         team.membership.workers->are_whole(asked_in->scheduled);
}

/// Its plans are no more than its ranks keep.
bool is_small(detail::team_state& team) { return team.shared.arena.grown_bytes() <= most_bytes; }

/// Threads on processors that this one may not use any more would be counted among the process's.
std::vector<pointer> take_others_out(all_idle& all, circumstances const& asked) {
  std::vector<pointer> others;
  others.reserve(all.teams.size());  // none may end under the lock
  for (auto at = all.teams.begin(); at != all.teams.end();) {
    if ((*at)->membership.asked_in->processors == asked.processors)
      ++at;
    else
      others.push_back(taken_out(all, at));
  }
  return others;
}

}  // namespace

void begin_thread() noexcept { this_thread.is_here = true; }

pointer take(circumstances const& asked) {
  if (trace::is_on()) return nullptr;  // each team has a number and journals of its own
  std::vector<pointer> others;
  {
    all_idle& all = idle();
    std::lock_guard const lock(all.guard);
    forget_parents(all);
    // The one that has been idle the shortest: its threads may still look.
    auto const found = std::find_if(all.teams.rbegin(), all.teams.rend(),
                                    [&](pointer const& p) { return *p->membership.asked_in == asked; });
    if (found != all.teams.rend()) {
      auto taken = taken_out(all, std::prev(found.base()));
      taken->membership.workers->begin_anew(inherited(asked.scheduled));
      return taken;
    }
    others = take_others_out(all, asked);
  }
  for (pointer& each : others) end_one(each);
  return nullptr;
}

void keep(pointer team) noexcept {
  auto const time = choice::wanted_idle_time();
  bool const is_kept = !trace::is_on() && time != time.zero() && !text::plans_are_logged() && team.use_count() == 1 &&
                       is_like_new(*team) && is_small(*team);
  if (!is_kept) return end_one(team);
  team->begin_another_life();
  pointer surplus;
  {
    all_idle& all = idle();
    std::lock_guard const lock(all.guard);
    forget_parents(all);
    if (all.teams.size() == most_teams) surplus = taken_out(all, all.teams.begin());
    team->membership.workers->leave_after(time);
    all.teams.push_back(std::move(team));
  }
  end_one(surplus);
}

void end() noexcept {
  static_cast<void>(numa::process_number_by_the_system());
  all_idle& all = idle();
  for (;;) {
    pointer one;
    {
      std::lock_guard const lock(all.guard);
      forget_parents(all);
      if (all.teams.empty()) break;
      one = taken_out(all, all.teams.begin());
    }
    end_one(one);
  }
  // A rank's thread may be one of them, or such a one may wait for it.
  if (this_thread.is_here) return;
  while (all.retiring.load(std::memory_order_acquire) != 0) std::this_thread::yield();
}

bool retire(detail::team_state& team) noexcept {
  all_idle& all = idle();
  pointer own;
  {
    std::lock_guard const lock(all.guard);
    auto const found = std::ranges::find(all.teams, &team, &pointer::get);
    if (found == all.teams.end()) return false;  // somebody has taken it, or ends it
    own = taken_out(all, found);
    this_thread.retires = true;
    all.retiring.fetch_add(1, std::memory_order_relaxed);
    own->membership.workers->own_thread().detach();
  }
  end_one(own);
  return true;
}

}  // namespace coset::team_room::idle_teams
