// SPDX-License-Identifier: Apache-2.0
#include "command/why/why_simulated.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "command/lab.hpp"
#include "command/table.hpp"
#include "command/why/why_measured.hpp"

namespace coset::cli {

using nlohmann::ordered_json;

ordered_json simulate_first_two(topology const& machine, std::vector<processor> const& places,
                                choice::question const& q, choice::explanation const& found) {
  plans_to_simulate const asked{machine, places, q, first_two(found)};
  auto const simulated = need_lab("the simulator of --simulate").simulate_plans(asked);
  auto list = ordered_json::array();
  for (std::size_t k = 0; k < simulated.size(); ++k) {
    auto const& declined = simulated[k].declined;
    list.push_back({{"plan", plan_of(asked.plans[k].what)},
                    {"model", asked.plans[k].seconds()},
                    {"cycle", if_positive(simulated[k].cycle)},
                    {"call", if_positive(simulated[k].call)},
                    {"declined", declined.empty() ? ordered_json() : ordered_json(declined)}});
  }
  return list;
}

std::string text_of_simulated(ordered_json const& all) {
  auto told = table().with(as::us, {"model", "cycle", "call"}).with(as::words, {"plan, in simulated caches=plan"});
  for (auto row : all) {
    if (!row["declined"].is_null())
      row["plan"] = row["plan"].get<std::string>() + ": " + row["declined"].get<std::string>();
    told.add(std::move(row));
  }
  return told.as_text();
}

}  // namespace coset::cli
