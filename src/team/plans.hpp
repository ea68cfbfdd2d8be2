// SPDX-License-Identifier: Apache-2.0
// From what is asked for to a bound plan.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "team/team_state.hpp"

namespace coset::team_room {

/// Where staging cannot grow a vector goes in segments, but not one whose pieces are the ranks' own.
struct lacks_staging : argument_error {
  using argument_error::argument_error;
};

/// The plan that the library chooses for a call of this rank; bound the first time, found again after. May throw
/// lacks_staging.
detail::bound_plan const& plan_for(detail::rank_state&, detail::call const&);

/// Whether `in` and `out` of a call are one array to its plan. Verbs that leave a rank its own input, or write only where
/// nothing is read any more, have one program for both.
bool in_place(detail::call const&) noexcept;

/// The rules of the team's table that cannot serve an ordinary call, sums of floats of some sizes by every verb, each
/// once for each reason: "COSET_ALLREDUCE, direct(saved_steps=1)/output: …". Compiles what the rules name.
std::vector<std::string> refused_rules(detail::team_state&);

}  // namespace coset::team_room
