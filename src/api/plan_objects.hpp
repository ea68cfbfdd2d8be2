// SPDX-License-Identifier: Apache-2.0
// Persistent plans.
#pragma once

#include <memory>

#include "coset/detail/collective.hpp"
#include "coset/plan.hpp"

namespace coset::inline COSET_ABI::detail {

/// The plan of a call as the options say; its arrays only tell whether it is in place.
std::shared_ptr<bound_plan const> make_plan(team_state&, call const&, plan_options const&);

}  // namespace coset::detail
