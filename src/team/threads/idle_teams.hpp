// SPDX-License-Identifier: Apache-2.0
// Teams that nobody has any more, with their threads asleep: the next one that is asked for in equal circumstances is one of
// them. To make, run and destroy a team of two takes 12 µs so instead of 240 (plans_bench, two cores of Zen 4).
#pragma once

#include <memory>

#include "team/team_state.hpp"
#include "team/threads/circumstances.hpp"

namespace coset::team_room::idle_teams {

/// One that stands for the team that is asked for, or null.
std::shared_ptr<detail::team_state> take(circumstances const&);

/// Keeps a team that is like a new one and not too large; ends any other, or the one that has been idle the longest if they
/// become too many. It ends by itself once it has been idle for COSET_IDLE seconds; nobody ends it as the process ends.
void keep(std::shared_ptr<detail::team_state>) noexcept;

/// Ends all. Returns once their threads have ended, unless called by a rank's thread.
void end() noexcept;

/// What `make` makes; once more without idle teams if it lacks what they may have.
template <class Lack, class Make>
auto made_with_their_room(Make make) {
  try {
    return make();
  } catch (Lack const&) {
    end();
  }
  return make();
}

/// First of all by the thread of a rank: keeps the code of this library loaded as long as the thread lives.
void begin_thread() noexcept;

/// By a thread of this team that has been idle for long: whether it has ended the team, and is to return from where it began
/// without touching it.
bool retire(detail::team_state&) noexcept;

}  // namespace coset::team_room::idle_teams
