// SPDX-License-Identifier: Apache-2.0
// `coset why --simulate`.
#include "lab/simulate/plans.hpp"

#include <fmt/format.h>

#include "lab/cache/program_script.hpp"
#include "lab/cache/simulation.hpp"

namespace coset::cli {

void require_simulated(choice::question const& q, topology const& machine) {
  if (detail::shares_result(q.what))
    throw argument_error(fmt::format("{} is not simulated: its ranks share arrays", name_of(q.what)));
  constexpr rank_t most = 1024;
  if (q.ranks > most)
    throw argument_error(fmt::format("caches of {} ranks are too many to simulate; {} at most", q.ranks, most));
  if (q.crowded)
    throw argument_error(fmt::format("{} has {} processors for {} ranks: ranks that take turns are not simulated",
                                     machine.name, machine.processors.size(), q.ranks));
}

cache::work work_of(choice::question const& q, choice::answer const& what) {
  cache::program_call call;
  call.verb = choice::schedule_of(q.what);
  call.ranks = q.ranks;
  call.bytes = q.bytes;
  call.algorithm = what.algorithm;
  call.storage = what.storage;
  call.storage.in_place = q.in_place;
  return cache::work_of(call);
}

std::vector<simulated_plan> simulate_plans(plans_to_simulate const& asked) {
  require_simulated(asked.asked, asked.machine);
  cache::machine const on(asked.places, cache::costs(), cache::sizes_of(asked.machine));
  std::vector<simulated_plan> all;
  for (choice::explained const& plan : asked.plans) {
    simulated_plan& one = all.emplace_back();
    try {
      auto const work = work_of(asked.asked, plan.what);
      one.call = cache::simulate(on, work, cache::timing::call).last;
      one.cycle = cache::simulate(on, work, cache::timing::cycle).last;
    } catch (schedule_error const& undefined) {
      one.declined = undefined.what();
    }
  }
  return all;
}

}  // namespace coset::cli
