// SPDX-License-Identifier: Apache-2.0
#include "choice/levels.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "schedule/registry/permutation.hpp"

namespace coset::choice {
namespace {

/// The size of the groups with equal `key` if the ranks of each are consecutive and all groups have one size; else 0.
rank_t group_size(std::vector<processor> const& places, unsigned processor::*key) {
  rank_t size = 0, run = 0;
  std::set<unsigned> seen;
  for (std::size_t r = 0; r < places.size(); ++r) {
    bool const first = r == 0 || places[r].*key != places[r - 1].*key;
    if (first && !seen.insert(places[r].*key).second) return 0;
    run = first ? 1 : run + 1;
    bool const last = r + 1 == places.size() || places[r + 1].*key != places[r].*key;
    if (last && size != 0 && run != size) return 0;
    if (last) size = run;
  }
  return size;
}

/// latency + 3 per_peer of one L3 is a flag round of 4 ranks there, 0.16 µs measured on Zen 4; the others are scaled by
/// their one-way line latencies. per_byte is one core's share while its neighbours read as well: measured within an L3
/// and from the node's memory, which stands for other L3s; a rule of thumb beyond. So is what a group's link takes.
/// Lines are fetched by each reader, at no cost of whom they are from.
constexpr std::array kinds{
    level_kind{"core", &processor::core, 60e-9, 10e-9, 0.02e-9, 0, 0},
    level_kind{"l3", &processor::l3, 100e-9, 20e-9, 0.03e-9, 0, 0},
    level_kind{"node", &processor::node, 300e-9, 60e-9, 0.07e-9, 0.018e-9, 0},
    level_kind{"package", &processor::package, 400e-9, 80e-9, 0.1e-9, 0.012e-9, 0},
    level_kind{"machine", nullptr, 700e-9, 140e-9, 0.2e-9, 0.01e-9, 0},
};
constexpr std::size_t kind_of_l3 = 1;

schedule::link link_of(level_kind const& kind, rank_t group) {
  return {group, kind.latency, kind.per_byte, kind.per_peer, kind.shared, kind.fan_out};
}

bool joins_all(level_kind const& kind, std::vector<processor> const& places) {
  return kind.domain == nullptr ||
         std::ranges::all_of(places, [&](processor const& p) { return p.*kind.domain == places.front().*kind.domain; });
}

/// Then what joins the ranks of a node is an L3.
bool has_one_l3_a_node(std::vector<processor> const& places) {
  std::set<unsigned> nodes;
  std::set<std::pair<unsigned, unsigned>> l3s;
  for (processor const& p : places) {
    nodes.insert(p.node);
    l3s.insert({p.node, p.l3});
  }
  return l3s.size() == nodes.size();
}

}  // namespace

std::span<level_kind const> level_kinds() { return kinds; }

std::vector<schedule::link> links_of(std::vector<processor> const& places) {
  std::vector<schedule::link> links;
  rank_t inner = 1;
  bool const uneven = has_uneven(nodes_of(places));
  auto after = std::span(kinds).subspan(kind_of_l3);  // prices grow from inside out
  for (auto left = after; left.size() > 1; left = left.subspan(1)) {
    level_kind const& kind = left.front();
    rank_t const size = group_size(places, kind.domain);
    bool const is_level = size > inner && size < places.size() && size % inner == 0;
    if (!is_level && !(uneven && kind.domain == &processor::node)) continue;
    bool const is_l3 = !is_level && has_one_l3_a_node(places);
    links.push_back(link_of(is_l3 ? kinds[kind_of_l3] : kind, is_level ? inner = size : inner));
    after = left.subspan(1);
  }
  auto const last =
      std::ranges::find_if(after, [&](level_kind const& kind) { return places.empty() || joins_all(kind, places); });
  links.push_back(link_of(*last, UINT32_MAX));
  return links;
}

std::vector<schedule::link> usual_links(std::size_t number) {
  std::vector<schedule::link> links;
  for (std::size_t l = 0; l < number; ++l)
    links.push_back(link_of(kinds[std::min(kind_of_l3 + l, kinds.size() - 1)], UINT32_MAX));
  return links;
}

std::vector<rank_t> nodes_of(std::vector<processor> const& places) {
  std::vector<rank_t> sizes;
  std::set<unsigned> seen;
  for (std::size_t r = 0; r < places.size(); ++r) {
    if (r > 0 && places[r].node == places[r - 1].node) {
      ++sizes.back();
    } else if (seen.insert(places[r].node).second) {
      sizes.push_back(1);
    } else {
      return {};
    }
  }
  return sizes.size() > 1 ? sizes : std::vector<rank_t>{};
}

bool has_uneven(std::vector<rank_t> const& nodes) {
  return std::ranges::adjacent_find(nodes, std::ranges::not_equal_to()) != nodes.end();
}

levels_in_order scattered_levels(std::vector<processor> const& places) {
  levels_in_order found;
  std::vector<rank_t> group_of(places.size());
  for (auto const key : {&processor::l3, &processor::node, &processor::package}) {
    for (std::size_t r = 0; r < places.size(); ++r) group_of[r] = places[r].*key;
    found.order = schedule::neighbours(found.order, group_of);
  }
  auto moved = places;
  for (std::size_t k = 0; k < moved.size(); ++k) moved[k] = places[found.order[k]];
  found.levels = levels_of(moved);
  found.nodes = nodes_of(moved);
  if (std::ranges::is_sorted(found.order) || (found.levels.empty() && !has_uneven(found.nodes))) return {};
  found.links = links_of(moved);
  return found;
}

std::vector<rank_t> levels_of(std::vector<processor> const& places) {
  std::vector<rank_t> levels;
  rank_t inner = 1;
  for (auto const key : {&processor::l3, &processor::node, &processor::package}) {
    rank_t const size = group_size(places, key);
    if (size <= inner || size >= places.size() || size % inner != 0) continue;
    levels.push_back(inner = size);
  }
  return levels;
}

/// One after another: where a later one of a nested list throws, g++ 12 destroys the earlier ones twice.
level_facts level_facts_of(std::vector<processor> const& places) {
  level_facts all;
  all.as_numbered.levels = levels_of(places);
  all.as_numbered.nodes = nodes_of(places);
  all.as_numbered.links = links_of(places);
  all.scattered = scattered_levels(places);
  return all;
}

}  // namespace coset::choice
