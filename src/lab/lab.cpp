// SPDX-License-Identifier: Apache-2.0
// What makes the command coset-lab: coset with all that is listed here.
#include "command/lab.hpp"

#include "command/measure/harness/rivals.hpp"
#include "lab/commands.hpp"
#include "lab/foreign/foreign.hpp"
#include "lab/page/plan_page.hpp"
#include "lab/processes/bench_processes.hpp"
#include "lab/report/page.hpp"
#include "lab/simulate/plans.hpp"

namespace coset::cli {
namespace {

void add_commands(CLI::App& app) {
  for (auto const add : {add_generate, add_cost, add_search, add_simulate, add_reproduce}) add(app);
}

constexpr laboratory everything{add_commands,   report_page,       schedule::write_page,    schedule::read_msccl,
                                simulate_plans, measure_processes, measure::rival_families, measure::make_rivals};

}  // namespace

laboratory const* const lab = &everything;

}  // namespace coset::cli
