// SPDX-License-Identifier: Apache-2.0
// What simulations of caches are written as.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "command/table.hpp"
#include "lab/simulate/contest.hpp"

namespace coset::cli {

/// One machine, and a contest for each size.
struct simulated_machine {
  std::string topology, verb, place;
  contest_request request;
  std::vector<simulated_contest> sizes;
};

/// A row for each plan that was simulated, with the lines that moved on each level.
table all_plans();
void add(simulated_machine const&, table& to);

/// A line for each size: the chosen plan beside the fastest. With `all` also a line for every plan.
std::string as_text(simulated_machine const&, bool all);
nlohmann::ordered_json as_json(simulated_machine const&);

}  // namespace coset::cli
