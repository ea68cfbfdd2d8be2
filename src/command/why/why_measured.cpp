// SPDX-License-Identifier: Apache-2.0
#include "command/why/why_measured.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace coset::cli {
namespace {

using nlohmann::ordered_json;

std::string plan_of(choice::answer const& a) { return a.algorithm.text() + "/" + program::policy_name(a.storage); }

std::string column(double value, int width, int digits) {
  return value > 0 ? fmt::format(" {:>{}.{}f}", value, width, digits) : fmt::format(" {:>{}}", "-", width);
}

ordered_json number_or_null(double seconds) { return seconds > 0 ? ordered_json(seconds) : ordered_json(); }

}  // namespace

std::vector<priced_and_measured> measure_first_two(choice::question const& q, choice::explanation const& found) {
  std::vector<priced_and_measured> both{{found.chosen, {}}};
  auto const runner_up = std::ranges::find_if(found.candidates, [&](choice::explained const& e) {
    return e.removed_by.empty() && plan_of(e.what) != plan_of(found.chosen.what);
  });
  if (runner_up != found.candidates.end()) both.push_back({*runner_up, {}});
  plans_to_measure asked{std::string(name_of(q.what)), q.bytes, q.ranks, q.in_place, {}};
  for (auto const& one : both) asked.plans.push_back(plan_of(one.priced.what));
  auto const here = measure_plans(asked);
  for (std::size_t i = 0; i < both.size(); ++i) both[i].here = here[i];
  return both;
}

std::string text_of(std::vector<priced_and_measured> const& all) {
  std::string text = fmt::format("{:>12} {:>9} {:>9} {:>9} {:>11}  plan, here: added to a cycle's own work\n",
                                 "us: model", "added", "cycle", "call", "model/added");
  for (auto const& [priced, here] : all) {
    text += fmt::format("{:>12.3f}", priced.seconds() * 1e6);
    for (double const seconds : {here.added, here.cycle, here.call}) text += column(seconds * 1e6, 9, 3);
    text += column(here.added > 0 ? priced.seconds() / here.added : 0, 11, 2);
    auto const cores = here.one_way > 0 ? fmt::format(", {:.0f} ns between the cores", here.one_way * 1e9) : "";
    text += fmt::format("  {}{}\n", plan_of(priced.what), here.declined.empty() ? cores : ": " + here.declined);
  }
  return text;
}

ordered_json json_of(std::vector<priced_and_measured> const& all) {
  ordered_json list = ordered_json::array();
  for (auto const& [priced, here] : all)
    list.push_back({{"plan", plan_of(priced.what)},
                    {"model", priced.seconds()},
                    {"added", number_or_null(here.added)},
                    {"call", number_or_null(here.call)},
                    {"cycle", number_or_null(here.cycle)},
                    {"one_way", number_or_null(here.one_way)},
                    {"declined", here.declined.empty() ? ordered_json() : ordered_json(here.declined)}});
  return list;
}

}  // namespace coset::cli
