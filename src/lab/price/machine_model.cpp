// SPDX-License-Identifier: Apache-2.0
// Levels of a placement, with defaults for shared memory.
#include "lab/price/machine_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <string_view>

#include "command/numbers.hpp"
#include "planning/choice/levels.hpp"

namespace coset::cli {
namespace {

using choice::level_kind;
using schedule::cost_model;

std::vector<unsigned> domains_of(std::vector<processor> const& places, level_kind const& kind) {
  std::vector<unsigned> domains;
  for (processor const& p : places) domains.push_back(kind.domain != nullptr ? p.*kind.domain : 0);
  return domains;
}

/// Which ranks a level joins, and what it costs.
struct placed_level {
  std::string name;
  level_kind kind;
  std::vector<unsigned> domains;
};

/// [node]: the first node at no more than this distance, if that makes groups: near nodes have the same near nodes.
std::vector<unsigned> groups_within(topology const& machine, unsigned distance) {
  std::vector<unsigned> first;
  auto const near = [&](std::size_t a, std::size_t b) { return a == b || machine.distances[a][b] <= distance; };
  for (std::size_t a = 0; a < machine.distances.size(); ++a) {
    unsigned b = 0;
    while (!near(a, b)) ++b;
    first.push_back(b);
  }
  for (std::size_t a = 0; a < first.size(); ++a)
    for (std::size_t b = 0; b < first.size(); ++b)
      if (near(a, b) != (first[a] == first[b])) return {};
  return first;
}

/// Whether ranks of one domain of `inner` are always in one of `outer`.
bool refines(std::vector<unsigned> const& inner, std::vector<unsigned> const& outer) {
  std::map<unsigned, unsigned> of;
  for (std::size_t r = 0; r < inner.size(); ++r)
    if (of.try_emplace(inner[r], outer[r]).first->second != outer[r]) return false;
  return true;
}

/// Costs half-way between those of two levels.
level_kind between(level_kind const& a, level_kind const& b) {
  auto const half = [](double x, double y) { return (x + y) / 2; };
  return {nullptr,
          nullptr,
          half(a.latency, b.latency),
          half(a.per_peer, b.per_peer),
          half(a.per_byte, b.per_byte),
          half(a.shared, b.shared),
          half(a.fan_out, b.fan_out)};
}

/// Adds a level "near16" for nodes at distances up to 16, where these are groups that fit between two levels and are
/// neither of them.
void add_near_nodes(topology const& machine, std::vector<processor> const& places, std::vector<placed_level>& levels) {
  std::set<unsigned> distances;
  for (auto const& row : machine.distances) distances.insert(row.begin(), row.end());
  for (unsigned const distance : distances) {
    auto const near = groups_within(machine, distance);
    if (near.empty()) continue;
    std::vector<unsigned> domains;
    for (processor const& p : places) domains.push_back(near[p.node]);
    auto const outer = std::ranges::find_if(levels, [&](placed_level const& l) { return refines(domains, l.domains); });
    if (outer == levels.begin() || outer == levels.end() || refines(outer->domains, domains)) continue;
    placed_level const& inner = outer[-1];
    if (!refines(inner.domains, domains) || refines(domains, inner.domains)) continue;
    levels.insert(outer, {fmt::format("near{}", distance), between(inner.kind, outer->kind), std::move(domains)});
  }
}

/// Enters a setting such as "l3.beta=2e-11" into the levels.
void set(std::string const& setting, std::vector<placed_level>& levels) {
  auto const refuse = [&] {
    throw argument_error(fmt::format("'{}' sets nothing: write LEVEL.PARAMETER=SECONDS, as in node.beta=1e-10, of {}",
                                     setting, default_settings()));
  };
  auto const dot = setting.find('.'), equals = setting.find('=');
  if (dot == std::string::npos || equals == std::string::npos || equals < dot) refuse();
  auto const level = std::ranges::find(levels, setting.substr(0, dot), &placed_level::name);
  std::string const parameter = setting.substr(dot + 1, equals - dot - 1);
  auto const value = seconds_in(std::string_view(setting).substr(equals + 1));
  if (level == levels.end() || !value || (parameter == "fan" && *value > 1)) refuse();
  if (parameter == "alpha")
    level->kind.latency = *value;
  else if (parameter == "lambda")
    level->kind.per_peer = *value;
  else if (parameter == "beta")
    level->kind.per_byte = *value;
  else if (parameter == "link")
    level->kind.shared = *value;
  else if (parameter == "fan")
    level->kind.fan_out = *value;
  else
    refuse();
}

/// [level]: whether it joins two ranks that no inner level joins.
std::vector<bool> joining_levels(schedule::rank_levels const& levels) {
  std::vector<bool> joins(levels.count());
  for (rank_t a = 0; a < levels.ranks(); ++a)
    for (rank_t b = 0; b < a; ++b) joins[levels.joining(a, b)] = true;
  return joins;
}

}  // namespace

std::size_t machine_model::first_between_nodes() const {
  return static_cast<std::size_t>(
      std::ranges::find_if(
          names, [](std::string const& n) { return n == "package" || n == "machine" || n.starts_with("near"); }) -
      names.begin());
}

machine_model model_of(topology const& machine, std::vector<processor> const& places,
                       std::vector<std::string> const& settings, std::optional<double> gamma) {
  std::vector<placed_level> placed;
  for (level_kind const& kind : choice::level_kinds()) placed.push_back({kind.name, kind, domains_of(places, kind)});
  add_near_nodes(machine, places, placed);
  for (std::string const& setting : settings) set(setting, placed);
  if (!machine.has_l3) std::erase_if(placed, [](placed_level const& l) { return l.name == "l3"; });
  std::vector<std::vector<unsigned>> all, kept;
  for (placed_level const& level : placed) all.push_back(level.domains);
  auto const joins = joining_levels(schedule::rank_levels(all));

  std::vector<std::string> names;
  cost_model costs;
  for (std::size_t l = 0; l < placed.size(); ++l) {
    bool const last_resort = l + 1 == placed.size() && kept.empty();  // one rank: joins nothing, but needs a level
    if (!joins[l] && !last_resort) continue;
    names.push_back(placed[l].name);
    kept.push_back(all[l]);
    level_kind const& kind = placed[l].kind;
    costs.links.push_back(
        {1, kind.latency, kind.per_byte, kind.per_peer, kept.size() > 1 ? kind.shared : 0, kind.fan_out});
  }
  schedule::rank_levels const domains(kept);
  rank_t inner = 1;  // that of the level inside where groups are uneven, so that no product of groups is tried there
  for (std::size_t l = 0; l < kept.size(); ++l) costs.links[l].group = inner = std::max(domains.even_group(l), inner);
  costs.combine_per_byte = gamma.value_or(choice::fold_per_byte);
  costs.peers_per_latency = std::numeric_limits<rank_t>::max();  // one look at all flags
  costs.per_stream_beyond = choice::per_stream_beyond;
  return {std::move(names), {domains, std::move(costs)}};
}

std::string default_settings() {
  std::string text;
  for (level_kind const& k : choice::level_kinds()) {
    text += fmt::format("{0}{1}.alpha={2:g} {1}.lambda={3:g} {1}.beta={4:g}", text.empty() ? "" : " ", k.name,
                        k.latency, k.per_peer, k.per_byte);
    if (k.shared > 0) text += fmt::format(" {}.link={:g}", k.name, k.shared);
    text += fmt::format(" {}.fan={:g}", k.name, k.fan_out);
  }
  return text;
}

}  // namespace coset::cli
