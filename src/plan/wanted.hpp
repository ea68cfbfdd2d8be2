// SPDX-License-Identifier: Apache-2.0
// How a call is to run: as its caller, the environment, or the library wants it.
#pragma once

#include "coset/detail/collective.hpp"
#include "coset/plan.hpp"
#include "plan/team_facts.hpp"
#include "tuning/choice/choose.hpp"

namespace coset::planning {

using tuning::schedule_of;

/// The first rule of the team's table for a call; null if there is none.
tuning::rule const* rule_for(team_facts const&, detail::call const&);

/// The library's choice, rules left aside.
tuning::choice default_for(team_facts const&, detail::call const&);

/// `chosen`, but for what the options say. Throws schedule_error if that does not exist, or cannot serve the call as
/// required.
tuning::choice changed(tuning::choice chosen, plan_options const&, team_facts const&, detail::call const&);

}  // namespace coset::planning
