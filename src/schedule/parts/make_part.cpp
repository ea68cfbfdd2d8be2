// SPDX-License-Identifier: Apache-2.0
#include "schedule/parts/make_part.hpp"

#include <algorithm>
#include <utility>

#include "schedule/composed/two_level.hpp"
#include "schedule/parts/between.hpp"
#include "schedule/parts/part_of.hpp"

namespace coset::schedule {
namespace {

/// Whether the algorithm's nodes are the hosts.
bool has_these_hosts(algorithm const& given, std::span<rank_t const> hosts) {
  if (given.name != "two_level" || !given.parameters.contains("nodes")) return false;
  auto const nodes = given.numbers("nodes");
  if (nodes.size() + 1 != hosts.size()) return false;
  for (std::size_t h = 0; h < nodes.size(); ++h) {
    if (hosts[h + 1] - hosts[h] != nodes[h]) return false;
  }
  return true;
}

/// Hosts do what `between` does among one rank of each, if it serves the verb.
bool is_composed(algorithm const& given, collective verb) {
  return serves(find_algorithm(between_of(given).name), verb);
}

part make_of_whole(algorithm const& given, std::span<rank_t const> hosts, std::size_t host, collective verb,
                   rank_t root) {
  bool const one_rank_each = hosts.size() == hosts.back() + std::size_t{1};
  if (one_rank_each) {
    if (auto made = part_of_fold(given, hosts.back(), static_cast<rank_t>(host), verb, {})) return *std::move(made);
  }
  return part_of(make(given, hosts.back(), verb, root), hosts, host);
}

}  // namespace

part make_part(algorithm const& given, std::span<rank_t const> hosts, std::size_t host, collective verb, rank_t root) {
  algorithm const whole = completed(given);
  require_verb(find_algorithm(whole.name), verb);
  if (root >= hosts.back())
    throw schedule_error("root " + std::to_string(root) + " is none of " + std::to_string(hosts.back()) + " ranks");
  part made;
  if (has_these_hosts(whole, hosts) && is_composed(whole, verb)) {
    two_level_shape const shape{whole.numbers("nodes"), whole.number("leaders"), between_of(whole),
                                whole.number("inner")};
    made = two_level_part(shape, verb, root, host);
  } else {
    made = make_of_whole(whole, hosts, host, verb, root);
    merge_alike_blocks(made);
  }
  made.own.verb = verb;
  made.own.algorithm = whole.name;
  made.own.parameters = whole.parameters;
  return made;
}

}  // namespace coset::schedule
