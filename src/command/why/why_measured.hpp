// SPDX-License-Identifier: Apache-2.0
// `coset why --measure`: what the model expects of the chosen plan and of the runner-up, and what they take here.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "planning/choice/explain.hpp"

namespace coset::cli {

/// Plans of one call, "direct/staged", that take turns.
struct plans_to_measure {
  std::string verb;
  std::uint64_t bytes = 8;
  rank_t ranks = 0;
  bool in_place = false;
  std::vector<std::string> plans;
};

/// Seconds, medians of rounds; 0 and why not, if the plan cannot serve. What a plan adds to the work of a cycle is what the
/// model prices: a call alone does not pay for lines that it makes others fetch again.
struct measured_plan {
  double call = 0, cycle = 0, added = 0;
  double one_way = 0;  ///< the latency between the farthest cores while `added` was measured: machines move them
  std::string declined;
};

std::vector<measured_plan> measure_plans(plans_to_measure const&);

struct priced_and_measured {
  choice::explained priced;
  measured_plan here;
};

/// The chosen plan first, then the cheapest other one that no rule removes, if there is any. Measures.
/// The chosen plan and the runner-up, if there is one.
std::vector<choice::explained> first_two(choice::explanation const&);
/// "direct/staged"
std::string plan_of(choice::answer const&);

std::vector<priced_and_measured> measure_first_two(choice::question const&, choice::explanation const&);

/// A line each, with their ratio.
std::string text_of(std::vector<priced_and_measured> const&);
nlohmann::ordered_json json_of(std::vector<priced_and_measured> const&);

}  // namespace coset::cli
