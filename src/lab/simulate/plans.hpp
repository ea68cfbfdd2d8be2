// SPDX-License-Identifier: Apache-2.0
// The caches of a machine under the plans of one call.
#pragma once

#include <vector>

#include "command/why/why_simulated.hpp"
#include "lab/cache/script.hpp"

namespace coset::cli {

/// Throws argument_error saying why, if such a call is not simulated.
void require_simulated(choice::question const&, topology const&);

/// What ranks do that execute a plan of this call.
cache::work work_of(choice::question const&, choice::answer const&);

std::vector<simulated_plan> simulate_plans(plans_to_simulate const&);

}  // namespace coset::cli
