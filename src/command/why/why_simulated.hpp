// SPDX-License-Identifier: Apache-2.0
// What the lab's simulator of caches says of the chosen plan and the runner-up, beside what the choice expects.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "coset/topology.hpp"
#include "planning/choice/explain.hpp"

namespace coset::cli {

/// On a machine that need not be this one.
struct plans_to_simulate {
  topology const& machine;
  std::vector<processor> const& places;
  choice::question const& asked;
  std::vector<choice::explained> plans;
};

/// Seconds of a call alone, and of a cycle in which inputs are rewritten and results read.
struct simulated_plan {
  double call = 0, cycle = 0;
  std::string declined;  ///< why there is none
};

/// By need_lab(). A list of an object for each of the first two.
nlohmann::ordered_json simulate_first_two(topology const&, std::vector<processor> const&, choice::question const&,
                                          choice::explanation const&);
std::string text_of_simulated(nlohmann::ordered_json const&);

}  // namespace coset::cli
