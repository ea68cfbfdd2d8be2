// SPDX-License-Identifier: Apache-2.0
// Walking trees, and their contention-free ring.
#include "planning/schedule/model/tree.hpp"

#include <algorithm>
#include <array>

#include "planning/schedule/composed/nodes.hpp"
#include "planning/schedule/core/assembly.hpp"

namespace coset::schedule {

std::size_t tree::leaf_of(rank_t rank) const {
  auto const found = std::ranges::find(nodes, std::optional(rank), &tree_node::rank);
  if (found == nodes.end()) throw schedule_error("rank " + std::to_string(rank) + " is none of the tree's");
  return static_cast<std::size_t>(found - nodes.begin());
}

tree two_level_tree(std::vector<rank_t> const& nodes) {
  auto const members = members_of(nodes);
  tree made{{{"root", {}, {}, 0, 0}}, members.back().back() + 1};
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    std::size_t const node = made.nodes.size();
    made.nodes[0].children.push_back(node);
    made.nodes.push_back({"node" + std::to_string(n), {}, {}, 0, 1});
    for (rank_t const r : members[n]) {
      made.nodes[node].children.push_back(made.nodes.size());
      made.nodes.push_back({std::to_string(r), r, {}, node, 2});
    }
  }
  return made;
}

std::vector<rank_t> leaves_below(tree const& of, std::size_t node) {
  if (of.nodes[node].rank) return {*of.nodes[node].rank};
  std::vector<rank_t> found;
  for (std::size_t const child : of.nodes[node].children) {
    auto const below = leaves_below(of, child);
    found.insert(found.end(), below.begin(), below.end());
  }
  return found;
}

namespace {

// Inner nodes, depth first.
void append_inner_nodes(tree const& of, std::size_t node, std::vector<std::size_t>& order) {
  order.push_back(node);
  for (std::size_t const child : of.nodes[node].children)
    if (!of.nodes[child].rank) append_inner_nodes(of, child, order);
}

// The nodes with ranks of their own, depth first, each with these ranks.
std::vector<std::pair<std::size_t, std::vector<rank_t>>> machines(tree const& of) {
  std::vector<std::size_t> inner;
  append_inner_nodes(of, 0, inner);
  std::vector<std::pair<std::size_t, std::vector<rank_t>>> found;
  for (std::size_t const node : inner) {
    std::vector<rank_t> own;
    for (std::size_t const child : of.nodes[node].children)
      if (of.nodes[child].rank) own.push_back(*of.nodes[child].rank);
    if (!own.empty()) found.emplace_back(node, std::move(own));
  }
  return found;
}

using groups = std::vector<rank_t>;

/// [node]: the groups below it, of machines that count; nothing of a node without any, or if its children differ.
class grouping {
 public:
  grouping(tree const& of, std::span<std::string const> machines) : of_(of), machines_(machines) {}

  /// No value: irregular. A pair of how many machines there are, and their groups.
  std::optional<std::pair<rank_t, groups>> below(std::size_t node) const {
    bool const counts = std::ranges::find(machines_, of_.nodes[node].name) != machines_.end();
    rank_t children = 0;
    std::pair<rank_t, groups> first{0, {}};
    for (std::size_t const child : of_.nodes[node].children) {
      if (of_.nodes[child].rank) continue;
      auto const found = below(child);
      if (!found) return {};
      if (found->first == 0) continue;
      if (children++ == 0)
        first = *found;
      else if (*found != first)
        return {};
    }
    if (counts && children > 0) return {};  // a machine with others behind it
    if (counts) return std::pair{rank_t{1}, groups{}};
    if (children > 1) first.second.push_back(children);
    first.first *= children;
    return first;
  }

 private:
  tree const& of_;
  std::span<std::string const> machines_;
};

}  // namespace

std::vector<rank_t> groups_along(tree const& of, std::span<std::string const> machines) {
  auto const found = grouping(of, machines).below(0);
  return found ? found->second : groups{};
}

std::vector<rank_t> ring_order(tree const& of) {
  std::vector<rank_t> order;
  for (auto const& [node, ranks] : machines(of)) order.insert(order.end(), ranks.begin(), ranks.end());
  return order;
}

std::vector<std::string> machines_along(tree const& of) {
  std::vector<std::string> names;
  for (auto const& [node, ranks] : machines(of)) names.push_back(of.nodes[node].name);
  return names;
}

schedule tree_ring(tree const& of) {
  auto const order = ring_order(of);
  rank_t const ranks = of.ranks;
  auto const at = [&](rank_t position) { return order[position % ranks]; };
  auto const segment = [&](rank_t number) -> piece {
    std::int64_t const i = number % ranks;
    return {{i, ranks}, {i + 1, ranks}};
  };
  std::vector<fraction> cuts;
  for (rank_t i = 0; i < ranks; ++i) cuts.push_back(segment(i).low);

  assembly building(ranks, cuts);
  for (rank_t round = 1; round < ranks; ++round) {  // position i passes segment i − round on, ends with segment i
    for (rank_t i = 0; i < ranks; ++i)
      building.fold(at(i + 1), segment(i + ranks - round), std::array{at(i), at(i + 1)});
    building.end_step();
  }
  for (rank_t round = 1; round < ranks; ++round) {
    for (rank_t i = 0; i < ranks; ++i) building.fold(at(i + 1), segment(i + 1 + ranks - round), std::array{at(i)});
    building.end_step();
  }
  return std::move(building).finish();
}

}  // namespace coset::schedule
