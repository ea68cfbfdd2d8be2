// SPDX-License-Identifier: Apache-2.0
// How a call is to run: as its caller, the environment, or the library wants it.
#pragma once

#include "coset/plan.hpp"
#include "team/team_state.hpp"
#include "tuning/choice/choose.hpp"

namespace coset::team_room {

using tuning::schedule_of;

/// The first rule of the team's table for a call; null if there is none.
tuning::rule const* rule_for(detail::team_state const&, detail::call const&);

/// The library's choice, rules left aside.
tuning::choice default_for(detail::team_state const&, detail::call const&);

/// `chosen`, but for what the options say. Throws schedule_error if that does not exist, or cannot serve the call as
/// required.
tuning::choice changed(tuning::choice chosen, plan_options const&, detail::team_state const&, detail::call const&);

}  // namespace coset::team_room
