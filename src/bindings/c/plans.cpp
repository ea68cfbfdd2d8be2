// SPDX-License-Identifier: Apache-2.0
// Plans.

#include "bindings/c/arguments.hpp"
#include "bindings/c/options.hpp"
#include "bindings/c/status.hpp"
#include "planning/plan/bound_plan.hpp"
#include "runtime/calls/checks.hpp"
#include "runtime/rank_state.hpp"
#include "team/team_state.hpp"

namespace coset::capi {
namespace {

plan_options options_from(coset_plan_options const* given, verb what, rank_t ranks, std::size_t unit) {
  auto const c = options_of(given, coset_plan_options COSET_PLAN_OPTIONS, "COSET_PLAN_OPTIONS");
  plan_options options;
  if (c.algorithm != nullptr) options.algorithm = c.algorithm;
  if (c.storage != nullptr) options.storage = c.storage;
  options.required = choice_of(c.bits, bits::per_rank, "kind of bits");
  options.root = c.root;
  options.segment_bytes = c.segment_bytes;
  for (rank_t r = 0; c.counts != nullptr && detail::is_of_pieces(what) && r < ranks; ++r)
    options.counts.push_back(detail::product(c.counts[r], unit));
  return options;
}

std::unique_ptr<coset_plan> made_plan(detail::team_state& owner, verb what, std::size_t count, coset_type type,
                                      coset_operation op, coset_plan_options const* given) {
  std::size_t unit = 1;
  if (detail::is_barrier(what)) type = COSET_INT8, count = 0;
  reduction const how = detail::only_moves(what) ? copy_of(type, unit) : reduction_of(type, op);
  std::size_t const all = detail::product(count, unit);
  auto const plans =
      detail::make_plans(owner, what, all, *how.table, options_from(given, what, owner.shared.size(), unit));
  return std::make_unique<coset_plan>(coset_plan{what, count, plans, how.kept(), detail::describe(*plans.apart)});
}

/// Bare pointers have the lengths that the plan says they have.
detail::plan_arrays arrays_of(coset_plan const& plan, detail::rank_state& me, void const* in, void* out) {
  detail::bound_plan const& apart = *plan.plans.apart;
  if (apart.owner != &me.team.plans) return {};  // refused at execution
  detail::extent const gives = apart.arrays.gives[me.rank], gets = apart.arrays.gets[me.rank];
  if (detail::spreads_whole(plan.what)) in = out;
  if (detail::is_barrier(plan.what)) in = out = nullptr;
  places at{in, gives.end - gives.begin, out, gets.end - gets.begin};
  try {
    settle(at, plan.what, me.number, detail::gives_pieces(plan.what) ? gives.begin : gets.begin);
  } catch (argument_error const& wrong) {
    detail::refuse(me, wrong.what());
  }
  bool const has_pieces = detail::gives_pieces(plan.what) || detail::gets_pieces(plan.what);
  bool const one_array = at.in == at.out && !has_pieces;
  std::size_t const element_bytes = apart.what.reduction->element_bytes, whole = apart.what.count;
  return {at.in, one_array ? whole : at.in_bytes / element_bytes, at.out,
          one_array ? whole : at.out_bytes / element_bytes};
}

}  // namespace

void make_plan(detail::any_team owner, coset_verb verb, std::size_t count, coset_type type, coset_operation op,
               coset_plan_options const* options, coset_plan** made) {
  require(made, "the place for a plan");
  auto const what = choice_of(verb, all_verbs().back(), "verb");
  *made = made_plan(owner.state(), what, count, type, op, options).release();
}

}  // namespace coset::capi

using namespace coset::capi;

coset_status coset_plan_create(coset_team* team, coset_verb verb, size_t count, coset_type type, coset_operation op,
                               coset_plan_options const* options, coset_plan** made) {
  return guarded([&] {
    require(team, "the team");
    make_plan(*team->of, verb, count, type, op, options, made);
  });
}

coset_status coset_plan_execute(coset_plan const* plan, coset_member* me, void const* in, void* out) {
  return guarded([&] {
    require_told(me, plan, "the plan");
    coset::detail::rank_state& state = state_of(me);
    coset::detail::execute(state, plan->plans, arrays_of(*plan, state, in, out), plan->operation.get());
  });
}

coset_status coset_plan_start(coset_plan const* plan, coset_member* me, void const* in, void* out,
                              coset_request* started) {
  return guarded([&] {
    require_told(me, plan, "the plan");
    require_told(me, started, "the place for a request");
    coset::detail::rank_state& state = state_of(me);
    put(coset::detail::start(state, plan->plans, arrays_of(*plan, state, in, out), plan->operation.get()), started);
  });
}

size_t coset_plan_count(coset_plan const* plan) { return plan != nullptr ? plan->count : 0; }

char const* coset_plan_describe(coset_plan const* plan) { return plan != nullptr ? plan->description.c_str() : ""; }

coset_status coset_plan_free(coset_plan* plan) {
  return guarded([&] { delete plan; });
}
