// SPDX-License-Identifier: Apache-2.0
// How a call is to run: as its caller, the environment, or the library wants it.
#pragma once

#include "coset/plan.hpp"
#include "team/team_state.hpp"
#include "tuning/choose.hpp"

namespace coset::team_room {

/// The collective whose schedule serves a verb.
schedule::collective schedule_of(verb);

/// The library's choice; the first rule of the team's table comes before it where it can serve the call.
tuning::choice choice_for(detail::team_state const&, detail::call const&);

/// What explicit options ask for. Throws schedule_error if that does not exist, or cannot serve the call as required.
tuning::choice wanted_by(plan_options const&, detail::team_state const&, detail::call const&);

}  // namespace coset::team_room
