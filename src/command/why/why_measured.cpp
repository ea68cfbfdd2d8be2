// SPDX-License-Identifier: Apache-2.0
#include "command/why/why_measured.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "command/why/why.hpp"

namespace coset::cli {

using nlohmann::ordered_json;

std::string plan_of(choice::answer const& a) { return a.algorithm.text() + "/" + program::policy_name(a.storage); }

std::vector<choice::explained> first_two(choice::explanation const& found) {
  std::vector<choice::explained> both{found.chosen};
  auto const runner_up = std::ranges::find_if(found.candidates, [&](choice::explained const& e) {
    return e.removed_by.empty() && plan_of(e.what) != plan_of(found.chosen.what);
  });
  if (runner_up != found.candidates.end()) both.push_back(*runner_up);
  return both;
}

std::vector<priced_and_measured> measure_first_two(choice::question const& q, choice::explanation const& found) {
  std::vector<priced_and_measured> both;
  for (auto const& one : first_two(found)) both.push_back({one, {}});
  plans_to_measure asked{std::string(name_of(q.what)), q.bytes, q.ranks, q.in_place, {}};
  for (auto const& one : both) asked.plans.push_back(plan_of(one.priced.what));
  auto const here = measure_plans(asked);
  for (std::size_t i = 0; i < both.size(); ++i) both[i].here = here[i];
  return both;
}

ordered_json json_of(std::vector<priced_and_measured> const& all) {
  ordered_json list = ordered_json::array();
  for (auto const& [priced, here] : all)
    list.push_back({{"plan", plan_of(priced.what)},
                    {"model", priced.seconds()},
                    {"added", if_positive(here.added)},
                    {"call", if_positive(here.call)},
                    {"cycle", if_positive(here.cycle)},
                    {"one_way", if_positive(here.one_way)},
                    {"declined", here.declined.empty() ? ordered_json() : ordered_json(here.declined)}});
  return list;
}

std::string text_of(std::vector<priced_and_measured> const& all) {
  auto told = table()
                  .with(as::us, {"model", "added", "cycle", "call"})
                  .with(as::ratio, {"model/added=ratio"})
                  .with(as::words, {"plan, here: added to a cycle's own work=plan"});
  for (auto row : json_of(all)) {
    auto const& added = row["added"];
    row["ratio"] = added.is_null() ? ordered_json() : ordered_json(row["model"].get<double>() / added.get<double>());
    std::string note;
    if (!row["declined"].is_null())
      note = ": " + row["declined"].get<std::string>();
    else if (!row["one_way"].is_null())
      note = fmt::format(", {:.0f} ns between the cores", row["one_way"].get<double>() * 1e9);
    row["plan"] = row["plan"].get<std::string>() + note;
    told.add(std::move(row));
  }
  return told.as_text();
}

}  // namespace coset::cli
