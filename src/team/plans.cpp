// SPDX-License-Identifier: Apache-2.0
#include "team/plans.hpp"

#include "schedule/algorithm.hpp"
#include "schedule/validate.hpp"
#include "tuning/choose.hpp"

namespace coset::team_room {
namespace {

using detail::bound_plan;
using detail::reduction_table;
using detail::team_state;

/// Small payloads travel in the entry lines themselves: one transfer brings tag and data.
program::home home_of(program::compiled const& code, std::size_t bytes) {
  bool const fits = code.layers * bytes <= second_line_bytes;
  if (code.layers == 0 || !fits) return program::home::pieces;
  return code.layers * bytes <= entry_payload_bytes ? program::home::entry_line : program::home::second_line;
}

std::unique_ptr<bound_plan> bind(team_state& team, signature const& what, tuning::choice const& chosen) {
  std::size_t const bytes = what.count * what.reduction->element_bytes;
  auto plan = std::make_unique<bound_plan>();
  plan->what = what;
  plan->hash = what.hash();
  plan->owner = &team;
  plan->code = team.programs.get(chosen.algorithm, what.verb, what.root, team.ranks, chosen.storage);
  program::policy storage = chosen.storage;
  storage.staging = home_of(*plan->code, bytes);
  if (storage.staging != program::home::pieces) {
    plan->code = team.programs.get(chosen.algorithm, what.verb, what.root, team.ranks, storage);
  }
  plan->segment_count = what.count;
  plan->last_layout = plan->layout = program::bind(*plan->code, what.count, what.reduction->element_bytes);
  plan->choice = chosen.algorithm + ", " + program::policy_name(chosen.storage);
  return plan;
}

/// A schedule that brackets differently on different ranks gives them different bits, unless the operation is exact.
void require_bits(std::string const& algorithm, rank_t ranks, reduction_table const& reduction, bits required) {
  auto const properties = schedule::validate(schedule::make(schedule::algorithm::parse(algorithm), ranks));
  std::string const what = algorithm + " on " + std::to_string(ranks) + " ranks ";
  if (!reduction.commutative && !properties.ordered) {
    throw schedule_error(what + "does not keep the order of the ranks, which " + std::string(reduction.operation) + " needs; direct does");
  }
  if (!properties.rank_uniform && !reduction.exact && required == bits::same_on_all_ranks) {
    throw schedule_error(what + "gives the ranks different bits for " + std::string(reduction.operation) + " of " +
                         std::string(reduction.type) + "; ask for bits::per_rank, or use saved_steps=0");
  }
}

tuning::choice chosen_by(plan_options const& options, rank_t ranks, std::size_t bytes, bool in_place) {
  tuning::choice chosen = tuning::choose(schedule::collective::allreduce, ranks, bytes, in_place);
  if (options.algorithm != "auto") {
    chosen.algorithm = schedule::algorithm::parse(options.algorithm).text();
    if (options.storage == "auto") chosen.storage = {program::area::staging, program::area::staging, program::copies::forward, in_place};
  }
  if (options.storage != "auto") {
    chosen.storage = program::parse_policy(options.storage);
    chosen.storage.in_place = in_place;
  }
  return chosen;
}

}  // namespace

std::shared_ptr<program::compiled const> compiled_table::get(std::string const& algorithm, schedule::collective verb, rank_t root, rank_t ranks,
                                                             program::policy const& storage) {
  std::lock_guard const lock(making_);
  auto& made = made_[{algorithm, verb, root, storage}];
  if (!made) {
    // A barrier is an allreduce of nothing.
    auto const moved = verb == schedule::collective::barrier ? schedule::collective::allreduce : verb;
    auto const plan = schedule::make(schedule::algorithm::parse(algorithm), ranks, moved, root);
    if (plan.idempotent_only) throw schedule_error(algorithm + " on " + std::to_string(ranks) + " ranks counts contributions twice");
    made = std::make_shared<program::compiled>(program::compile(plan, storage));
  }
  return made;
}

bound_plan const& plan_for(detail::rank_state& me, schedule::collective verb, std::size_t count, reduction_table const& reduction, bool in_place) {
  plan_key const key{&reduction, count, verb, in_place};
  auto& front = me.plans.front[key.hash() % plan_cache::front_size];
  if (front.second != nullptr && front.first == key) [[likely]] return *front.second;
  if (me.plans.all.size() >= plan_cache::most) {
    me.plans.all.clear();
    me.plans.front = {};
  }
  auto& bound = me.plans.all[key];
  if (!bound) {
    bound = bind(me.team, {verb, &reduction, count, 0, in_place}, tuning::choose(verb, me.team.ranks, count * reduction.element_bytes, in_place));
  }
  front = {key, bound.get()};
  return *bound;
}

}  // namespace coset::team_room

namespace coset::detail {

bound_plan const& plan_allreduce(team_state& team, std::size_t count, reduction_table const& reduction, bool in_place, plan_options const& options) {
  auto chosen = team_room::chosen_by(options, team.ranks, count * reduction.element_bytes, in_place);
  team_room::require_bits(chosen.algorithm, team.ranks, reduction, options.required);
  std::lock_guard const lock(team.binding);
  auto& bound = team.plans[{chosen.algorithm + "/" + options.storage, count, &reduction, in_place}];
  if (!bound) {
    team_room::signature const what{schedule::collective::allreduce, &reduction, count, 0, in_place, ++team.explicit_plans};
    bound = team_room::bind(team, what, chosen);
  }
  return *bound;
}

std::string describe(bound_plan const& plan) { return plan.choice; }

}  // namespace coset::detail
