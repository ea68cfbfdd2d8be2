// SPDX-License-Identifier: Apache-2.0
// Levels of a placement, with defaults for shared memory.
#include "cli/price/machine_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "choice/levels.hpp"
#include "cli/numbers.hpp"

namespace coset::cli {
namespace {

using choice::level_kind;
using schedule::cost_model;

std::vector<unsigned> domains_of(std::vector<processor> const& places, level_kind const& kind) {
  std::vector<unsigned> domains;
  for (processor const& p : places) domains.push_back(kind.domain != nullptr ? p.*kind.domain : 0);
  return domains;
}

/// The size of the domains if each has that many consecutive ranks; else that of the level inside, so that no product
/// of groups is tried on this level.
rank_t group_of(std::vector<unsigned> const& domains, rank_t inner) {
  auto const first = std::ranges::find_if(domains, [&](unsigned d) { return d != domains.front(); });
  auto const group = static_cast<rank_t>(first - domains.begin());
  if (domains.size() % group != 0 || group % inner != 0) return inner;
  for (std::size_t r = 0; r < domains.size(); ++r) {
    bool const begins = r % group == 0;
    if (!begins && domains[r] != domains[r - 1]) return inner;
    if (begins &&
        std::find(domains.begin() + static_cast<std::ptrdiff_t>(r + group), domains.end(), domains[r]) != domains.end())
      return inner;
  }
  return group;
}

/// Enters a setting such as "l3.beta=2e-11" into the table.
void set(std::string const& setting, std::vector<level_kind>& table) {
  auto const refuse = [&] {
    throw argument_error(fmt::format("'{}' sets nothing: write LEVEL.PARAMETER=SECONDS, as in node.beta=1e-10, of {}",
                                     setting, default_settings()));
  };
  auto const dot = setting.find('.'), equals = setting.find('=');
  if (dot == std::string::npos || equals == std::string::npos || equals < dot) refuse();
  auto const level = std::ranges::find(table, setting.substr(0, dot), &level_kind::name);
  std::string const parameter = setting.substr(dot + 1, equals - dot - 1);
  auto const value = seconds_in(std::string_view(setting).substr(equals + 1));
  if (level == table.end() || !value) refuse();
  if (parameter == "alpha")
    level->latency = *value;
  else if (parameter == "lambda")
    level->per_peer = *value;
  else if (parameter == "beta")
    level->per_byte = *value;
  else if (parameter == "link")
    level->shared = *value;
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
      std::ranges::find_if(names, [](std::string const& n) { return n == "package" || n == "machine"; }) -
      names.begin());
}

machine_model model_of(topology const& machine, std::vector<processor> const& places,
                       std::vector<std::string> const& settings) {
  auto const kinds = choice::level_kinds();
  std::vector<level_kind> table(kinds.begin(), kinds.end());
  for (std::string const& setting : settings) set(setting, table);
  if (!machine.has_l3) std::erase_if(table, [](level_kind const& k) { return k.domain == &processor::l3; });
  std::vector<std::vector<unsigned>> all, kept;
  for (level_kind const& kind : table) all.push_back(domains_of(places, kind));
  auto const joins = joining_levels(schedule::rank_levels(all));

  std::vector<std::string> names;
  cost_model costs;
  rank_t inner = 1;
  for (std::size_t l = 0; l < table.size(); ++l) {
    bool const last_resort = l + 1 == table.size() && kept.empty();  // one rank: joins nothing, but needs a level
    if (!joins[l] && !last_resort) continue;
    names.emplace_back(table[l].name);
    kept.push_back(all[l]);
    level_kind const& kind = table[l];
    costs.links.push_back({inner = group_of(all[l], inner), kind.latency, kind.per_byte, kind.per_peer,
                           kept.size() > 1 ? kind.shared : 0});
  }
  costs.combine_per_byte = choice::fold_per_byte;
  costs.peers_per_latency = std::numeric_limits<rank_t>::max();  // one look at all flags
  costs.per_stream_beyond = choice::per_stream_beyond;
  return {std::move(names), schedule::rank_levels(kept), std::move(costs)};
}

std::string default_settings() {
  std::string text;
  for (level_kind const& k : choice::level_kinds()) {
    text += fmt::format("{0}{1}.alpha={2:g} {1}.lambda={3:g} {1}.beta={4:g}", text.empty() ? "" : " ", k.name,
                        k.latency, k.per_peer, k.per_byte);
    if (k.shared > 0) text += fmt::format(" {}.link={:g}", k.name, k.shared);
  }
  return text;
}

}  // namespace coset::cli
