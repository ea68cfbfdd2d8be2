// SPDX-License-Identifier: Apache-2.0
#include "planning/schedule/model/machine.hpp"

#include <algorithm>

namespace coset::schedule {

std::vector<rank_t> groups_of(cost_model const& model) {
  std::vector<rank_t> groups;
  for (link const& l : model.links) groups.push_back(l.group);
  return groups;
}

cost_model cost_model::flat(double latency, double per_byte, double combine_per_byte) {
  cost_model model;
  model.links = {{UINT32_MAX, latency, per_byte, 0, 0, 1}};
  model.combine_per_byte = combine_per_byte;
  return model;
}

level_machine::level_machine(rank_t ranks, cost_model costs)
    : level_machine(rank_levels(ranks, groups_of(costs)), costs) {}

level_machine::level_machine(rank_levels domains, cost_model costs)
    : machine(std::move(costs)), domains_(std::move(domains)), first_{0, 2 * domains_.ranks()} {
  if (domains_.count() != costs_.links.size())
    throw schedule_error("a model of " + std::to_string(costs_.links.size()) + " links does not price " +
                         std::to_string(domains_.count()) + " levels");
  for (std::size_t l = 0; l + 1 < domains_.count(); ++l) {
    unsigned last = 0;
    for (rank_t r = 0; r < domains_.ranks(); ++r) last = std::max(last, domains_.domain(r, l));
    first_.push_back(first_.back() + 2 * (last + 1));
  }
}

// Inwards and outwards by turns.
void level_machine::find(rank_t to, rank_t from, way& found) const {
  std::size_t const level = domains_.joining(to, from);
  link const& by = costs_.links[level];
  found.level = level;
  found.latency = by.latency;
  found.per_message = by.per_peer;
  found.fan_out = by.fan_out;
  found.per_byte = by.per_byte;
  found.uses.clear();
  found.uses.push_back({2 * to, by.per_byte / costs_.ports});
  if (by.fan_out > 0) found.uses.push_back({2 * from + 1, by.fan_out * by.per_byte / costs_.ports});
  for (std::size_t l = 1; l <= level; ++l) {
    link const& of_group = costs_.links[l];
    if (of_group.shared <= 0) continue;
    found.uses.push_back({first_[l] + 2 * domains_.domain(to, l - 1), of_group.shared});
    if (of_group.fan_out > 0)
      found.uses.push_back({first_[l] + 2 * domains_.domain(from, l - 1) + 1, of_group.fan_out * of_group.shared});
  }
}

level_machine::kind level_machine::kind_of(link_t one) const {
  auto const after = std::ranges::upper_bound(first_, one);
  auto const level = static_cast<std::size_t>(after - first_.begin()) - 1;
  return {static_cast<link_t>(2 * level + (one - first_[level]) % 2), level == 0 ? 1 : domains_.even_group(level - 1)};
}

std::string level_machine::name_of(link_t one) const {
  auto const after = std::ranges::upper_bound(first_, one);
  auto const level = static_cast<std::size_t>(after - first_.begin()) - 1;
  std::string const number = std::to_string((one - first_[level]) / 2);
  std::string const whose =
      level == 0 ? "rank " + number : "group " + number + " of level " + std::to_string(level - 1);
  return ((one - first_[level]) % 2 == 0 ? "into " : "out of ") + whose;
}

}  // namespace coset::schedule
