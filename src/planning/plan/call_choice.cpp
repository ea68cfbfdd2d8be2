// SPDX-License-Identifier: Apache-2.0
#include "planning/plan/call_choice.hpp"

#include <algorithm>
#include <utility>

#include "base/text/format.hpp"
#include "planning/choice/price.hpp"
#include "planning/plan/shape.hpp"
#include "planning/schedule/core/validate.hpp"
#include "planning/schedule/registry/algorithm.hpp"
#include "planning/schedule/registry/named_file.hpp"

namespace coset::planning {

using choice::schedule_of;
using detail::call;
using detail::reduction_table;

namespace {

/// As asked for, but in the order of the ranks where the operation needs that and the algorithm offers it: "ring" for
/// an operation that does not commute is "ring(ordered=1)", whose values are (hi, lo) pairs.
schedule::algorithm algorithm_for(std::string const& text, reduction_table const& reduction) {
  auto wanted = schedule::pinned(schedule::algorithm::parse(text));
  auto const& offered = schedule::find_algorithm(wanted.name).parameters;
  bool const can_be_ordered =
      std::ranges::any_of(offered, [](schedule::parameter const& p) { return p.name == "ordered"; });
  if (!reduction.commutative && can_be_ordered) wanted.parameters.try_emplace("ordered", "1");
  return wanted;
}

/// A schedule that brackets differently on different ranks gives them different bits, unless the operation is exact.
void require_bits(schedule::algorithm const& wanted, verb what, rank_t ranks, rank_t root,
                  reduction_table const& reduction, bits required) {
  auto const plan = schedule::make(wanted, ranks, schedule_of(what), root);
  std::string const algorithm = wanted.text();
  if (plan.idempotent_only && !reduction.idempotent) {
    throw schedule_error(text::format("{} on {} ranks counts contributions twice, which {} of {} does not allow",
                                      algorithm, ranks, reduction.operation, reduction.type));
  }
  auto const properties = schedule::validate(plan);
  std::string const on = text::format("{} on {} ranks ", algorithm, ranks);
  if (!reduction.commutative && !properties.ordered) {
    throw schedule_error(
        text::format("{}does not keep the order of the ranks, which {} needs; direct does", on, reduction.operation));
  }
  if (!properties.rank_uniform && !reduction.exact && required == bits::same_on_all_ranks) {
    throw schedule_error(
        text::format("{}gives the ranks different bits for {} of {}; ask for bits::per_rank, or use saved_steps=0", on,
                     reduction.operation, reduction.type));
  }
}

/// Whoever combines promises no same bits on all ranks, and its threads and its frames are not the caller's.
void require_offload(choice::answer const& chosen, team_facts const& team, call const& c, bits required) {
  reduction_table const& reduction = *c.reduction;
  if (!reduction.code.standalone) {
    throw schedule_error(
        text::format("+library needs an operation that has no state and is noexcept, which {} of {} is not",
                     reduction.operation, reduction.type));
  }
  if (!reduction.exact && required == bits::same_on_all_ranks) {
    throw schedule_error(
        text::format("+library does not promise the same bits on all ranks for {} of {}; ask for bits::per_rank",
                     reduction.operation, reduction.type));
  }
  program::require_offloads(schedule::make(chosen.algorithm, team.ranks, schedule_of(c.what), c.root), team.spread);
}

/// The number of ranks of each domain.
std::vector<rank_t> domains_of(program::distribution const& spread) {
  std::vector<rank_t> sizes;
  for (std::size_t d = 0; d + 1 < spread.domains.size(); ++d)
    sizes.push_back(spread.domains[d + 1] - spread.domains[d]);
  return sizes;
}

/// Of the domain that has fewest.
rank_t carriers_of(program::distribution const& spread) {
  std::vector<rank_t> carriers(spread.domains.size() - 1, 0);
  for (auto const& process : spread.processes) carriers[spread.domain_of(process.first)] += process.carriers;
  return *std::ranges::min_element(carriers);
}

/// Of the first process of each domain, whichever has fewest.
rank_t first_carriers_of(program::distribution const& spread) {
  rank_t least = UINT32_MAX;
  std::size_t domain = 0;
  for (auto const& process : spread.processes) {
    if (process.first != spread.domains[domain]) continue;
    least = std::min(least, process.carriers);
    ++domain;
  }
  return least;
}

/// Within a process inputs are read where they are, and one of its ranks fetches what another process has made. Not what one
/// round brings to everybody.
bool reads_within_processes(choice::answer& chosen, team_facts const& team, call const& c) {
  using program::copies;
  bool const can =
      !team.pointers && detail::shares_result(c.what) && chosen.storage.how != copies::pull && !chosen.storage.offloads;
  if (!can) return false;
  chosen.storage.first = program::area::input;
  chosen.storage.how = copies::pull;
  return true;
}

choice::answer default_between_domains(team_facts const& team, call const& c, std::vector<rank_t> domains) {
  choice::question asked{.what = c.what, .ranks = team.ranks, .bytes = c.count * c.reduction->element_bytes};
  asked.commutative = c.reduction->commutative;
  asked.hosts.ranks = std::move(domains);
  asked.hosts.carriers = carriers_of(team.spread);
  asked.hosts.first_carriers = first_carriers_of(team.spread);
  asked.hosts.switches = team.spread.switches;
  asked.hosts.network = team.spread.network.value_or(choice::usual_network);
  asked.pointers = team.pointers;
  choice::answer chosen = choice::choose_between(asked);
  chosen.storage.in_place = in_place(c);
  reads_within_processes(chosen, team, c);
  return chosen;
}

/// Processes of one host are a level: their ranks reach each other's arrays.
void put_on_processes(choice::question& q, team_facts const& team) {
  program::distribution const& spread = team.spread;
  std::size_t const processes = spread.number_of_stretches();
  if (processes < 2) return;
  std::vector<rank_t> sizes;
  for (std::size_t p = 0; p < processes; ++p)
    sizes.push_back((p + 1 < processes ? spread.first_of_stretch(p + 1) : team.ranks) - spread.first_of_stretch(p));
  bool const is_each_alone = std::ranges::all_of(sizes, [](rank_t size) { return size == 1; });
  q.levels = std::make_shared<schedule::level_machine const>(is_each_alone ? choice::usual_levels(team.ranks)
                                                                           : choice::usual_levels(team.ranks, {sizes}));
}

choice::question question_of(team_facts const& team, call const& c) {
  choice::question asked{.what = c.what, .ranks = team.ranks, .bytes = bytes_of_class(c)};
  asked.in_place = in_place(c);
  asked.memory = team.memory;
  asked.crowded = team.crowded;
  asked.commutative = c.reduction->commutative;
  choice::put_on_levels(asked, team.levels);
  asked.pointers = team.pointers;
  if (!team.pointers && detail::shares_result(c.what)) put_on_processes(asked, team);
  return asked;
}

}  // namespace

bool has_own_view(team_facts const& team, verb what, std::size_t bytes) {
  choice::question asked{.what = what, .ranks = team.ranks, .bytes = bytes};
  asked.crowded = team.crowded;
  asked.pointers = team.pointers && team.spread.is_one_domain();
  return choice::has_own_view(asked);
}

std::size_t bytes_of_class(call const& c) { return choice::class_end(c.count * c.reduction->element_bytes); }

/// Staging that may be of any length is cut, so that it stays in the caches; 0: it is not.
std::size_t long_segment(choice::question const& asked, choice::answer const& chosen) {
  bool const is_staged =
      chosen.storage.first == program::area::staging && chosen.storage.later == program::area::staging;
  bool const may_be_long = is_staged && (chosen.storage.returns || choice::is_staged_at_length(asked));
  return may_be_long ? choice::staged_segment(asked, chosen) : 0;
}

choice::answer default_for(team_facts const& team, call const& c) {
  auto domains = domains_of(team.spread);
  if (domains.size() > 1) return default_between_domains(team, c, std::move(domains));
  choice::answer chosen = choice::choose(question_of(team, c));
  chosen.storage.in_place = in_place(c);
  if (!team.pointers) {
    chosen.storage.first = chosen.storage.later = program::area::staging;
    chosen.seconds = 0;
    chosen.segment_bytes = choice::staged_segment(question_of(team, c), chosen);
    if (reads_within_processes(chosen, team, c)) chosen.segment_bytes = choice::shared_segment(question_of(team, c));
  } else if (std::size_t const segment = long_segment(question_of(team, c), chosen); segment != 0) {
    chosen.segment_bytes = segment;
  } else if (detail::swaps_pieces(c.what) && chosen.storage.in_place) {
    chosen.segment_bytes = choice::swapped_segment;
  }
  return chosen;
}

std::vector<choice::answer> alternatives_for(team_facts const& team, call const& c, choice::answer const& chosen) {
  std::vector<choice::answer> all;
  choice::question const asked = question_of(team, c);
  bool const has_segments_anyway = chosen.segment_bytes != long_segment(asked, chosen);
  if (team.adapts == choice::adaptation::off || has_segments_anyway) return all;
  for (program::policy const& storage : choice::alternatives(asked, chosen)) {
    choice::answer other{chosen.algorithm, storage};
    other.segment_bytes = long_segment(asked, other);
    all.push_back(std::move(other));
  }
  return all;
}

calibration::rule const* rule_for(team_facts const& team, call const& c) {
  return team.choices.find(c.what, team.ranks, c.count * c.reduction->element_bytes,
                           detail::folds_for_all(c.what) && in_place(c));
}

choice::answer changed(choice::answer chosen, plan_options const& options, team_facts const& team, call const& c) {
  if (options.algorithm != "auto" || options.storage != "auto" || options.segment_bytes != 0) chosen.seconds = 0;
  if (options.algorithm != "auto") {
    chosen.algorithm = algorithm_for(options.algorithm, *c.reduction);
    if (options.storage == "auto")
      chosen.storage = {program::area::staging, program::area::staging, program::copies::forward, in_place(c)};
  }
  if (options.storage != "auto") {
    chosen.storage = program::parse_policy(options.storage);
    chosen.storage.in_place = in_place(c);
  }
  if (options.segment_bytes != 0) chosen.segment_bytes = options.segment_bytes;
  auto const domains = domains_of(team.spread);
  // What the default is cut into is no matter of another algorithm, whose bits segments may change.
  if (options.segment_bytes == 0 && options.algorithm != "auto" && domains.size() <= 1)
    chosen.segment_bytes = team.pointers ? 0 : choice::staged_segment(question_of(team, c), chosen);
  bool const offloaded = chosen.storage.offloads && options.algorithm == "auto" && domains.size() > 1;
  if (offloaded) chosen.algorithm = choice::offloaded_between(domains, team.spread.combiners.size());
  if (!team.pointers &&
      (chosen.storage.first == program::area::output || chosen.storage.later != program::area::staging)) {
    throw schedule_error(text::format("storage {} needs ranks of one process", options.storage));
  }
  if (options.algorithm != "auto" || offloaded)
    require_bits(chosen.algorithm, c.what, team.ranks, c.root, *c.reduction, options.required);
  if (chosen.storage.offloads) require_offload(chosen, team, c, options.required);
  return chosen;
}

}  // namespace coset::planning
