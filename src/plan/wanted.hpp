// SPDX-License-Identifier: Apache-2.0
// How a call is to run: as its caller, the environment, or the library wants it.
#pragma once

#include "choice/choose.hpp"
#include "coset/detail/collective.hpp"
#include "coset/plan.hpp"
#include "plan/team_facts.hpp"

namespace coset::planning {

using choice::schedule_of;

/// The first rule of the team's table for a call; null if there is none.
calibration::rule const* rule_for(team_facts const&, detail::call const&);

/// The library's choice, rules left aside.
choice::answer default_for(team_facts const&, detail::call const&);

/// What gives the same bits as the library's choice, and may serve better: see choice::alternatives. None where ranks
/// learn nothing.
std::vector<choice::answer> alternatives_for(team_facts const&, detail::call const&, choice::answer const&);

/// `chosen`, but for what the options say. Throws schedule_error if that does not exist, or cannot serve the call as
/// required.
choice::answer changed(choice::answer chosen, plan_options const&, team_facts const&, detail::call const&);

}  // namespace coset::planning
