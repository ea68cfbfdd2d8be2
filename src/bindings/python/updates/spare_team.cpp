// SPDX-License-Identifier: Apache-2.0
#include "bindings/python/updates/spare_team.hpp"

#include <unistd.h>

#include <utility>

namespace coset::python {
namespace {

/// Waking threads takes as long as this many updates of one.
constexpr std::size_t least_updates = 8192;

struct shelf {
  std::unique_ptr<team> spare;
  rank_t wanted = 0;  ///< threads that `spare` was made for
  bool is_taken = false;
  pid_t process = getpid();
};

/// Never destroyed: a call may be under way while the process ends.
shelf& the_shelf() {
  static shelf& only = *new shelf;
  return only;
}

/// What a child finds here is its parent's, and so is the call that may have taken it.
void begin_anew_in_child(shelf& of) {
  if (of.process == getpid()) return;
  of = shelf{};
}

}  // namespace

spare_team::spare_team(std::size_t updates, rank_t threads) {
  shelf& from = the_shelf();
  begin_anew_in_child(from);
  if (threads == 1 || updates < least_updates || from.is_taken) return;
  if (!from.spare || from.wanted != threads) {
    from.spare.reset();
    from.spare = std::make_unique<team>(team_options{.ranks = threads, .place = placement::unbound});
    from.wanted = threads;
  }
  team_ = std::move(from.spare);
  from.is_taken = true;
}

spare_team::~spare_team() {
  shelf& to = the_shelf();
  // Of a child that a signal's handler has forked during the call, the team is its parent's.
  if (!team_ || to.process != getpid()) return;
  to.spare = std::move(team_);
  to.is_taken = false;
}

}  // namespace coset::python
