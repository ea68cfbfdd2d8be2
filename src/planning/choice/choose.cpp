// SPDX-License-Identifier: Apache-2.0
#include "planning/choice/choose.hpp"

#include <algorithm>

#include "planning/choice/candidates.hpp"
#include "planning/choice/factors.hpp"
#include "planning/choice/storages.hpp"
#include "planning/schedule/core/verbs.hpp"
#include "planning/schedule/registry/permutation.hpp"

namespace coset::choice {
namespace {

using program::copies;
using schedule::algorithm;
using schedule::value_of;

/// A product that crosses levels as little as possible takes no more sources than this at once.
constexpr rank_t most_sources = 8;

/// Dimensions inside each level, the innermost first, so that no step crosses a level unnecessarily.
std::vector<rank_t> dimensions_by_level(question const& q) {
  std::vector<rank_t> by;
  for (rank_t const size : sizes_by_level(q)) {
    for (rank_t const d : dimensions(size, most_sources))
      if (d > 1) by.push_back(d);
  }
  if (by.empty()) by.push_back(q.ranks);
  return by;
}

/// One fold inside each node, one between nodes: no data cross between nodes unnecessarily. With this many sources each
/// fold is one step, and so keeps the order of the ranks.
algorithm uneven_folds(question const& q, std::vector<rank_t> const& nodes) {
  rank_t const largest = std::max(std::ranges::max(nodes), static_cast<rank_t>(nodes.size()));
  rank_t const radix = q.commutative ? std::min(largest, most_sources) : largest;
  return {"unequal", {{"nodes", value_of(nodes, '+')}, {"radix", value_of(std::max<rank_t>(radix, 2))}}};
}

std::vector<rank_t> sizes_of(calibration::clustering const& clusters) {
  std::vector<rank_t> sizes;
  for (auto const& cluster : clusters) sizes.push_back(static_cast<rank_t>(cluster.size()));
  return sizes;
}

/// With levels, a value crosses each level once and is then passed on inside; on one level its maker reaches all ranks.
program::policy by_level(question const& q, algorithm const& how, program::policy p) {
  bool const has_levels = q.levels != nullptr && q.levels->levels() > 1;
  if (how.name != "direct" && has_levels && p.how == copies::forward) p.how = copies::push;
  p.in_place = q.in_place;
  return p;
}

/// Full folds and trees can have all storages that are offered for them, but for scans in place, which binding stages;
/// others may lose a value in some, but never in staging.
bool can_have(priced_schedule const& chosen, question const& q, program::policy storage) {
  bool const is_staged = storage.first == program::area::staging && storage.later == program::area::staging;
  if (chosen.kind != schedule_kind::other || is_staged) return true;
  try {
    auto const made = schedule::make(chosen.algorithm, q.ranks, schedule_of(q.what));
    for (bool const widens : {false, true}) {
      storage.widens = widens;
      program::compile(made, storage);
    }
    return true;
  } catch (schedule_error const&) {
    return false;
  }
}

answer with_storage(priced_schedule const& chosen, question const& q) {
  auto all = storages_for(q, chosen.kind);
  std::ranges::stable_sort(all, {}, [&](program::policy const& p) { return price_of(q, p).total(); });
  for (program::policy const& p : all) {
    auto const storage = by_level(q, chosen.algorithm, p);
    double const seconds = priced_here(chosen.steps, q.memory.costs).total() + price_of(q, p).total();
    if (can_have(chosen, q, storage)) return {chosen.algorithm, storage, 0, seconds};
  }
  return {chosen.algorithm, by_level(q, chosen.algorithm, staged)};
}

}  // namespace

void put_on_levels(question& q, level_facts const& of) {
  bool const has_one_order = detail::is_scan(q.what) || !q.commutative || of.scattered == nullptr;
  q.levels = has_one_order ? of.as_numbered : of.scattered;
  q.order = has_one_order ? std::vector<rank_t>{} : of.order;
}

std::vector<rank_t> groups_of(question const& q) {
  std::vector<rank_t> groups;
  for (std::size_t l = 0; q.levels != nullptr && l + 1 < q.levels->levels(); ++l)
    if (rank_t const group = q.levels->domains().even_group(l); group != 0) groups.push_back(group);
  return groups;
}

std::vector<rank_t> uneven_nodes_of(question const& q) {
  for (std::size_t l = 0; q.levels != nullptr && l + 1 < q.levels->levels(); ++l)
    if (q.levels->domains().even_group(l) == 0) return q.levels->domains().sizes(l);
  return {};
}

schedule::algorithm folds_by_level(question const& q) {
  auto const nodes = uneven_nodes_of(q);
  auto how = nodes.empty() ? product_of(dimensions_by_level(q), 0) : uneven_folds(q, nodes);
  put_in_order(q, how);
  return how;
}

void put_in_order(question const& q, algorithm& how) {
  if (!q.order.empty() && how.name != "direct") how.parameters[schedule::permute] = schedule::permutation_text(q.order);
}

std::string folds_along(std::vector<calibration::clustering> const& levels, rank_t ranks) {
  std::vector<std::vector<rank_t>> sizes;
  for (auto const& level : levels) sizes.push_back(sizes_of(level));
  auto const on = std::make_shared<schedule::level_machine const>(usual_levels(ranks, sizes));
  return folds_by_level({.ranks = ranks, .levels = on}).text();
}

verb schedule_of(verb what) {
  bool const has_none = detail::is_barrier(what) || !schedule::has_schedules(what);
  return has_none ? verb::allreduce : what;  // a barrier is an allreduce of nothing
}

bool goes_straight(verb what) { return schedule::is_derived(what); }

question as_served(question q) {
  q.bytes = class_end(q.bytes);
  if (q.bytes > private_view_bytes && has_own_view(q)) q.what = schedule_of(q.what);
  return q;
}

answer choose(question const& asked) {
  question const q = as_served(asked);
  return with_storage(candidates(q).cheapest(), q);
}

}  // namespace coset::choice
