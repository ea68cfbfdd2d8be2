// SPDX-License-Identifier: Apache-2.0
#include "base/text/format.hpp"
#include "coset/plan.hpp"
#include "planning/plan/shape.hpp"
#include "runtime/calls/checks.hpp"
#include "runtime/calls/joint.hpp"
#include "team/team_state.hpp"

namespace coset::inline COSET_ABI::detail {

using namespace planning;
using runtime::shared_memory;

namespace {

void check(verb what, std::size_t count, shared_memory const& shared, plan_options const& options) {
  rank_t const ranks = shared.size();
  if (!is_verb(what)) throw argument_error(text::format("there is no verb {}", static_cast<int>(what)));
  if (options.required > bits::per_rank)
    throw argument_error(text::format("there is no kind of bits {}", static_cast<int>(options.required)));
  if (row_of(what).in == results::view)
    throw argument_error(text::format("no plan of {}: it has no output to plan for", name_of(what)));
  if (options.root >= ranks)
    throw argument_error(text::format("there is no root {} of a plan for {} ranks", options.root, ranks));
  if (!is_of_pieces(what)) return;
  if (swaps_pieces(what) && !options.counts.empty())
    throw argument_error(text::format("no plan of {} with counts: every rank knows but its own", name_of(what)));
  bool const even = options.counts.empty();
  if (even ? count % ranks != 0 : options.counts.size() != ranks || total(options.counts) != count) {
    throw argument_error(
        text::format("a plan of {} for {} elements on {} ranks cannot have counts {}", name_of(what), count, ranks,
                     even ? "that are equal" : text::format("[{}]", text::joined(options.counts, ", "))));
  }
}

/// The plan of a call as the options say; its arrays only tell whether it is in place.
std::shared_ptr<bound_plan const> make_plan(team_state& team, call const& c, plan_options const& options) {
  runtime::require_this_process(team.shared, "a plan is made");
  runtime::computing_in const alike_everywhere(runtime::floating_point_mode::usual(), arithmetic::floating_point);
  auto made = team.plans.of_options(c, options);
  bool const has_first_rank = team.shared.part.first == 0 && (team.shared.kind.one_process || team.members[0]);
  if (has_first_rank) team.plans.log_refusal(*made);
  return made;
}

}  // namespace

[[gnu::cold]] plan_pair make_plans(team_state& team, verb what, std::size_t count, reduction_table const& reduction,
                                   plan_options const& options) {
  check(what, count, team.shared, options);
  (void)product(count, reduction.element_bytes);
  rank_t const root = is_rooted(what) ? options.root : 0;
  std::byte one_array;  // stands for a caller's array that is input and output
  call apart{.what = what, .count = count, .reduction = &reduction, .root = root};
  if (is_of_pieces(what)) apart.counts = options.counts;
  call same = apart;
  same.in = same.out = &one_array;
  return {make_plan(team, apart, options), shares_result(what) ? nullptr : make_plan(team, same, options)};
}

plan_pair make_joint_plans(team_state& team, joint_kind const& kind, std::span<joint_part> parts,
                           plan_options const& options) {
  auto const plan = plan_of_rows(kind, parts, [&](call const& c) { return make_plan(team, c, options); });
  return {plan, plan};
}

[[gnu::cold]] std::string describe(bound_plan const& plan) { return plan.words->choice; }

}  // namespace coset::detail
