// SPDX-License-Identifier: Apache-2.0
#include "planning/schedule/model/proved.hpp"

#include <algorithm>
#include <bit>

#include "planning/schedule/algorithms/latency.hpp"
#include "planning/schedule/groups/chains.hpp"
#include "planning/schedule/groups/symmetric_proof.hpp"
#include "planning/schedule/registry/foldings.hpp"
#include "planning/schedule/registry/least_steps.hpp"
#include "planning/schedule/registry/named_fold.hpp"
#include "planning/schedule/registry/permutation.hpp"
#include "planning/schedule/registry/rows.hpp"

namespace coset::schedule {
namespace {

/// Each step of a whole vector has a value of every rank, with several ports two, which wrap; two take about as long as a block.
void require_time_for_wholes(named_algorithm const& row, rank_t ranks) {
  if (!row.least.whole_vectors) return;
  bool const has_ports = std::ranges::find(row.parameters, "n", &parameter::name) != row.parameters.end();
  require_room(ranks, ceil_log(ranks, 2) / (has_ports ? 1 : 2));
}

/// Of an allreduce that has one beside those of the registry: plans are made of these alone.
std::optional<symmetric_schedule> form_for_all(algorithm const& whole, rank_t ranks, verb what) {
  if (!served::for_all(what) || is_permuted(whole)) return {};
  if (whole.name == "latency") return latency_form(ranks, whole.number("radix"));
  bool const halves = whole.name == "recursive_halving" || whole.name == "hybrid";
  if (!(halves || whole.name == "recursive_doubling") || !std::has_single_bit(ranks)) return {};
  group const powers = group::binary(static_cast<unsigned>(std::bit_width(ranks)) - 1);
  chain const steps = lifted(powers.factors(), ranks, direct_chain);
  auto const all = static_cast<std::uint32_t>(steps.size());
  return fold(powers, steps, steps, halves && !detail::is_barrier(what) ? number_or(whole, "saved_steps", 0) : all);
}

/// Of folds that are not nested, which brackets them anew.
std::optional<symmetric_schedule> form_of(algorithm const& given, rank_t ranks, verb what, rank_t root) {
  if (ranks == 0 || root >= ranks) return {};  // refused where it is made
  require_verb(find_algorithm(given.name), what);
  algorithm const whole = completed(given);
  if (number_or(whole, "nested", 0) != 0) return {};
  if (auto found = form_for_all(whole, ranks, what)) return found;
  return symmetric_form(whole, ranks, what);
}

}  // namespace

proved_schedule::proved_schedule(algorithm const& how, rank_t ranks, verb what, rank_t root)
    : alike_(form_of(how, ranks, what, root)) {
  if (alike_) {
    found_ = validate(*alike_, what);
    return;
  }
  require_time_for_wholes(find_algorithm(how.name), ranks);
  written_ = make(how, ranks, what, root);
  found_ = validate(*written_);
}

counts proved_schedule::on(level_machine const& machine) const {
  if (!alike_) return counts(*written_, machine);
  auto const steps = steps_of(*alike_);
  std::size_t reads = 0;
  for (alike_step const& step : steps.steps) reads += step.reads.size();
  // On several levels ranks may differ, so that each one's messages are laid, at a quarter of what a block takes.
  if (machine.levels() > 1) require_room(machine.ranks(), reads / 4);
  return counts(steps, machine);
}

bool serves(proved_schedule const& one, demand const& wanted) {
  return (one.found().rank_uniform || !wanted.same_bits) && (one.found().ordered || wanted.commutative) &&
         (!one.is_idempotent_only() || wanted.idempotent);
}

std::optional<candidate> count_proved(algorithm const& how, demand const& wanted, level_machine const& on) try {
  proved_schedule const made(how, wanted.ranks, wanted.verb, wanted.root);
  if (!serves(made, wanted)) return std::nullopt;
  return candidate{how, made.found(), made.on(on)};
} catch (no_room const&) {
  throw;
} catch (schedule_error const&) {
  return std::nullopt;
}

}  // namespace coset::schedule
