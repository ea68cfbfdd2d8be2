// SPDX-License-Identifier: Apache-2.0
// From what is asked for to a bound plan.
#pragma once

#include <memory>
#include <string>

#include "team/team_state.hpp"

namespace coset::team_room {

/// The plan that the library chooses for a call of this rank; bound the first time, found again after.
detail::bound_plan const& plan_for(detail::rank_state&, schedule::collective, std::size_t count, detail::reduction_table const&, bool in_place);

}  // namespace coset::team_room
