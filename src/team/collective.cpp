// SPDX-License-Identifier: Apache-2.0
// The erased verbs: argument checks, the plan, the blocking call.
#include "coset/detail/collective.hpp"

#include <cassert>
#include <cstring>

#include "coset/plan.hpp"
#include "kernels/kernels.hpp"
#include "team/executor.hpp"
#include "team/plans.hpp"

namespace coset::detail {
namespace {

using namespace team_room;
using schedule::collective;

/// What a barrier reduces: nothing, but it takes a table to say so.
reduction_table const& nothing() { return table_of<std::int32_t, plus>(); }

void run_blocking(rank_state& me, bound_plan const& plan, void const* in, void* out, void const* context) {
  assert(me.thread == std::this_thread::get_id() && "a member is used by another thread than its rank's");
  flight f = start(me, 0, plan, in, out, context);
  advance<true>(me, f);
}

void check_own_arrays(rank_state& me, char const* verb, void const* in, void const* out, std::size_t bytes) {
  auto const a = reinterpret_cast<std::uintptr_t>(in), b = reinterpret_cast<std::uintptr_t>(out);
  if (a == b || (a - b >= bytes && b - a >= bytes)) [[likely]] return;
  refuse(me, std::string(verb) + ": input and output of rank " + std::to_string(me.rank) + " overlap: " + std::to_string(bytes) +
                 " bytes from " + std::to_string(a) + " and from " + std::to_string(b));
}

}  // namespace

fold_set const& built_in_folds(built_in_operation op, built_in_element type) {
  return kernels::find(static_cast<kernels::operation>(op), static_cast<kernels::element>(type));
}

void refuse(rank_state& me, std::string const& message) {
  me.team.fail(cause::argument, message);
  me.team.quiesce(me.rank);
  throw argument_error(message);
}

void allreduce(rank_state& me, void const* in, void* out, std::size_t count, reduction_table const& reduction, void const* context) {
  check_own_arrays(me, "allreduce", in, out, count * reduction.element_bytes);
  run_blocking(me, plan_for(me, collective::allreduce, count, reduction, in == out && count > 0), in, out, context);
}

void barrier(rank_state& me) { run_blocking(me, plan_for(me, collective::barrier, 0, nothing(), false), nullptr, nullptr, nullptr); }

void execute(rank_state& me, bound_plan const& plan, void const* in, void* out, void const* context) {
  if (plan.owner != &me.team) refuse(me, "a plan is executed by a member of another team");
  check_own_arrays(me, "plan", in, out, plan.what.count * plan.what.reduction->element_bytes);
  run_blocking(me, plan, in, out, context);
}

}  // namespace coset::detail
