// SPDX-License-Identifier: Apache-2.0
#include "command/bench/fit_costs.hpp"

#include "planning/choice/explain.hpp"
#include "planning/choice/price.hpp"
#include "planning/program/plan_text.hpp"

namespace coset::cli {
namespace {

using calibration::costs_by_name;
using calibration::memory_costs;
using calibration::priced_call;

constexpr std::size_t fitted_sizes[] = {8, 1 << 10, 8 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20};
/// Those that move arrays, in calls of their own.
bool is_fitted(verb what) {
  return schedule::has_schedules(what) && !detail::is_barrier(what) && !detail::is_exclusive(what);
}
constexpr std::size_t element_bytes = sizeof(float);
/// What is far from being chosen says little of what is chosen.
constexpr std::size_t most_plans_fitted = 3;

/// As the choice would price it if this were what moving bytes costs.
double price_at(choice::question q, choice::explained const& one, memory_costs const& costs) {
  q.memory.costs = costs;
  return choice::priced_here(one.steps, costs).total() + choice::price_of(q, one.what.storage).total();
}

/// Prices are linear in the costs, so that one at a time tells all of them.
priced_call priced(choice::question const& q, choice::explained const& one, double measured) {
  memory_costs none;
  for (auto const& each : costs_by_name) none.*each.value = 0;
  priced_call made{.constant = price_at(q, one, none), .measured = measured};
  for (std::size_t k = 0; k < costs_by_name.size(); ++k) {
    memory_costs alone = none;
    alone.*costs_by_name[k].value = 1;
    made.factor[k] = price_at(q, one, alone) - made.constant;
  }
  return made;
}

std::vector<choice::explained> plans_of(choice::question const& q) {
  auto const found = choice::explain(q);
  std::vector<choice::explained> plans{found.chosen};
  for (auto const& each : found.candidates) {
    bool const is_chosen = each.what.storage == found.chosen.what.storage;
    if (each.what.algorithm == found.chosen.what.algorithm && !is_chosen && plans.size() < most_plans_fitted)
      plans.push_back(each);
  }
  return plans;
}

}  // namespace

memory_costs fit_costs(choice::question const& like, added_by_plans const& added) {
  std::vector<priced_call> calls;
  for (verb const what : all_verbs()) {
    if (!is_fitted(what)) continue;
    for (std::size_t const bytes : fitted_sizes) {
      auto q = like;
      q.what = what;
      q.bytes = bytes / (q.ranks * element_bytes) * q.ranks * element_bytes;  // as they are measured
      if (q.bytes == 0) continue;
      auto const plans = plans_of(q);
      std::vector<std::string> texts;
      for (auto const& one : plans)
        texts.push_back(one.what.algorithm.text() + "/" + program::policy_name(one.what.storage));
      auto const seconds = added(what, q.bytes, texts);
      for (std::size_t i = 0; i < plans.size(); ++i)
        if (seconds[i] > 0) calls.push_back(priced(q, plans[i], seconds[i]));
    }
  }
  return calibration::fitted_costs(calls);
}

}  // namespace coset::cli
