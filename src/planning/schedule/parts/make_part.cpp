// SPDX-License-Identifier: Apache-2.0
#include "planning/schedule/parts/make_part.hpp"

#include <optional>
#include <utility>

#include "planning/schedule/composed/two_level.hpp"
#include "planning/schedule/composed/two_level_scan.hpp"
#include "planning/schedule/core/verbs.hpp"
#include "planning/schedule/parts/between.hpp"
#include "planning/schedule/parts/part_of.hpp"
#include "planning/schedule/registry/permutation.hpp"

namespace coset::schedule {
namespace {

/// Whether the algorithm's nodes are the hosts.
bool has_these_hosts(algorithm const& given, std::span<rank_t const> hosts) {
  if (!given.parameters.contains("nodes")) return false;
  auto const nodes = given.numbers("nodes");
  if (nodes.size() + 1 != hosts.size()) return false;
  for (std::size_t h = 0; h < nodes.size(); ++h) {
    if (hosts[h + 1] - hosts[h] != nodes[h]) return false;
  }
  return true;
}

/// Of algorithms in which hosts do what `between` does among one rank of each, where it serves the verb.
std::optional<part> make_alone(algorithm const& whole, std::span<rank_t const> hosts, std::size_t host, verb what,
                               rank_t root) {
  bool const has_levels = whole.name == "two_level" || whole.name == "two_level_scan";
  if (!has_levels || is_permuted(whole) || is_derived(what) || !has_these_hosts(whole, hosts)) return {};
  auto between = between_of(whole);
  if (whole.name == "two_level_scan")
    return two_level_scan_part({whole.numbers("nodes"), whole.number("leaders"), std::move(between)}, what, host);
  if (!serves(find_algorithm(between.name), what)) return {};
  two_level_shape const shape{whole.numbers("nodes"), whole.number("leaders"), std::move(between),
                              whole.number("inner")};
  return two_level_part(shape, what, root, host);
}

part make_of_whole(algorithm const& given, std::span<rank_t const> hosts, std::size_t host, verb what, rank_t root) {
  bool const one_rank_each = hosts.size() == hosts.back() + std::size_t{1};
  if (one_rank_each) {
    if (auto made = part_of_fold(given, hosts.back(), static_cast<rank_t>(host), what)) return *std::move(made);
  }
  return part_of(make(given, hosts.back(), what, root), hosts, host);
}

}  // namespace

part make_part(algorithm const& given, std::span<rank_t const> hosts, std::size_t host, verb what, rank_t root) {
  algorithm const whole = completed(given);
  require_verb(find_algorithm(whole.name), what);
  if (root >= hosts.back())
    throw schedule_error("root " + std::to_string(root) + " is none of " + std::to_string(hosts.back()) + " ranks");
  part made;
  if (auto alone = make_alone(whole, hosts, host, what, root)) {
    made = *std::move(alone);
  } else {
    made = make_of_whole(whole, hosts, host, what, root);
    if (!detail::swaps_pieces(what)) merge_alike_blocks(made);  // blocks of the same way go to different places
  }
  made.own.verb = what;
  made.own.algorithm = whole.name;
  made.own.parameters = whole.parameters;
  return made;
}

}  // namespace coset::schedule
