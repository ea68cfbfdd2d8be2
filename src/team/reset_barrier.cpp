// SPDX-License-Identifier: Apache-2.0
#include "team/reset_barrier.hpp"
#include "base/text/format.hpp"

namespace coset::team_room {

void reset_barrier::give_up(rank_t ranks) {
  --present_;
  throw timed_out(text::format("reset: found only {} of {} ranks", came_, ranks));
}

}  // namespace coset::team_room
