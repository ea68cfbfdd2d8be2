// SPDX-License-Identifier: Apache-2.0
// Calls to simulate: named algorithms under named storage, and tiny schedules made by hand.
#pragma once

#include <fmt/format.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "planning/program/program.hpp"
#include "planning/schedule/core/required.hpp"
#include "planning/schedule/registry/algorithm.hpp"
#include "simulation.hpp"

namespace coset::program::testing {

using plan_pointer = std::shared_ptr<schedule::schedule const>;

inline bool all_staged(policy const& p) { return p.first == area::staging && p.later == area::staging; }

inline bool rooted(verb what) { return coset::detail::is_rooted(what); }

/// What callers of a verb may pass. The library compiles verbs that give or get parts in place, whatever they pass.
inline std::vector<arrays> ways_to_call(verb what) {
  if (what == verb::gather || what == verb::scatter) return {arrays::apart};
  bool const parts = rooted(what) || what == verb::reduce_scatter || what == verb::allgather;
  return parts ? std::vector{arrays::apart, arrays::one, arrays::either} : std::vector{arrays::apart, arrays::one};
}

inline policy storage_of(std::string const& name, arrays how) {
  policy p = parse_policy(name);
  p.in_place = how == arrays::one || how == arrays::either;
  return p;
}

inline plan_pointer plan_of(std::string const& algorithm, rank_t ranks, verb what = verb::allreduce, rank_t root = 0) {
  return std::make_shared<schedule::schedule>(schedule::make(schedule::algorithm::parse(algorithm), ranks, what, root));
}

/// Throws schedule_error as compile does.
inline call call_of(plan_pointer plan, policy const& storage, arrays how = arrays::apart,
                    std::vector<rank_t> output_of = {}) {
  call c{plan, nullptr, how, std::move(output_of)};
  c.code = std::make_shared<compiled>(compile(*plan, storage, c.output_of));
  return c;
}

inline call call_of(plan_pointer plan, std::string const& storage, arrays how = arrays::apart) {
  return call_of(std::move(plan), storage_of(storage, how), how);
}

inline std::string text_of(schedule::schedule const& plan, policy const& storage, arrays how) {
  constexpr std::array hows{"apart", "one array", "either", "shared"};
  return fmt::format("{} on {} ranks, {}, root {}, {}{}, {}",
                     schedule::algorithm{plan.algorithm, plan.parameters}.text(), plan.ranks, name_of(plan.verb),
                     plan.root.value_or(0), policy_name(storage), storage.widens ? ", widening" : "",
                     hows[static_cast<std::size_t>(how)]);
}

/// Nobody ends with anything, and there is nothing to do yet.
inline schedule::schedule nothing_to_do(rank_t ranks) {
  schedule::schedule s;
  s.verb = verb::reduce;
  s.root = 0;
  s.ranks = ranks;
  s.blocks = {{0, 1}};
  s.result.assign(ranks, {schedule::no_slot});
  return s;
}

/// Staged in pieces, so that what the ranks do is the least that a schedule can ask of them.
inline call staged(schedule::schedule const& s) {
  return call_of(std::make_shared<schedule::schedule>(s), std::string("staged_pull"));
}

/// Everybody enters and leaves; nobody waits.
inline call idle(rank_t ranks) { return staged(nothing_to_do(ranks)); }

/// `reader` looks at the staging of `owner`, and nobody else at anything.
inline call lone_reader(rank_t ranks, rank_t reader, rank_t owner) {
  schedule::schedule s = nothing_to_do(ranks);
  s.sources = {{reader, 0}, {owner, 0}};
  s.steps = {{{reader, 0, 1, 0, 2}}};
  s.result[reader][0] = 1;
  return staged(s);
}

/// `reader` looks at the staging of `owner` on the word of `between`, which has looked there before it; at the lines of
/// `owner` it never looks.
inline call reader_by_hearsay(rank_t ranks, rank_t reader, rank_t between, rank_t owner) {
  schedule::schedule s = nothing_to_do(ranks);
  s.sources = {{between, 0}, {owner, 0}, {owner, 0}, {between, 1}};
  s.steps = {{{between, 0, 1, 0, 2}}, {{reader, 0, 1, 2, 2}}};
  s.result[reader][0] = 1;
  return staged(s);
}

/// `owner` leaves a partial result in its own staging and takes it from there; nobody looks at anything.
inline call lone_owner(rank_t ranks, rank_t owner) {
  schedule::schedule s = nothing_to_do(ranks);
  s.sources = {{owner, 0}, {owner, 0}, {owner, 1}};
  s.steps = {{{owner, 0, 1, 0, 2}}, {{owner, 0, 2, 2, 1}}};
  return staged(s);
}

}  // namespace coset::program::testing
