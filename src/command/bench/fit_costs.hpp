// SPDX-License-Identifier: Apache-2.0
// What moving bytes costs here, from what plans add to cycles.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "command/measure/fits/fitted_costs.hpp"
#include "planning/choice/choose.hpp"

namespace coset::cli {

/// Seconds that each plan, "direct/staged", adds to the work of a cycle; 0 of one that cannot serve.
using added_by_plans =
    std::function<std::vector<double>(verb, std::size_t bytes, std::vector<std::string> const& plans)>;

/// Fitted to the cheapest storages of every verb, from 8 bytes to 4 MiB. `like` has the ranks and where they are.
calibration::memory_costs fit_costs(choice::question const& like, added_by_plans const&);

}  // namespace coset::cli
