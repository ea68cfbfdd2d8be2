// SPDX-License-Identifier: Apache-2.0
// How a call is to run: as its caller, the environment, or the library wants it.
#pragma once

#include <cstddef>
#include <vector>

#include "coset/detail/collective.hpp"
#include "coset/plan.hpp"
#include "planning/choice/choose.hpp"
#include "planning/plan/team_facts.hpp"

namespace coset::planning {

/// The first rule of the team's table for a call; null if there is none.
calibration::rule const* rule_for(team_facts const&, detail::call const&);

/// Bytes of the longest whole vector that gets the same choice on one host.
std::size_t bytes_of_class(detail::call const&);

/// Whether each rank of a host gets a view of its own, of its own result.
bool has_own_view(team_facts const&, verb, std::size_t bytes);

/// The library's choice, rules left aside. On one host the same for all lengths of a class.
choice::answer default_for(team_facts const&, detail::call const&);

/// What gives the same bits as the library's choice, and may serve better: see choice::alternatives. None where ranks
/// learn nothing.
std::vector<choice::answer> alternatives_for(team_facts const&, detail::call const&, choice::answer const&);

/// `chosen`, but for what the options say. Throws schedule_error if that does not exist, or cannot serve the call as
/// required.
choice::answer changed(choice::answer chosen, plan_options const&, team_facts const&, detail::call const&);

}  // namespace coset::planning
