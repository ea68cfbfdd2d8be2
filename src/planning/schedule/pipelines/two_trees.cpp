// SPDX-License-Identifier: Apache-2.0
#include "planning/schedule/pipelines/two_trees.hpp"

#include <array>
#include <utility>

#include "planning/schedule/pipelines/block_reads.hpp"
#include "planning/schedule/pipelines/rank_trees.hpp"

namespace coset::schedule {
namespace {

/// A tree in order over places 0 … n−1, in which only places of one parity have children, and the root, place n, of which its
/// top is the only child: a tree of the places of that parity, and each other place hangs where nothing of it is.
tree_edges parity_tree(rank_t places, rank_t parity) {
  auto const inner_at = [&](rank_t i) { return parity + 2 * i; };
  rank_t const inner = (places + 1 - parity) / 2;
  rank_run const all = inner > 0 ? balanced(0, inner, 2) : rank_run{0, 0, 0};
  tree_edges edges{{places, inner > 0 ? inner_at(all.top) : 0, 0}};
  if (inner > 0) grow(edges, all, 2);
  std::vector<char> has(2 * std::size_t{inner});  // by inner place, below it and above it
  for (std::size_t e = 1; e < edges.size(); ++e) {
    auto& [parent, child, number] = edges[e];
    has[2 * parent + (child > parent)] = true;
    parent = inner_at(parent);
    child = inner_at(child);
  }
  for (rank_t side = 0; side < 2 * inner; ++side) {
    rank_t const place = inner_at(side / 2), leaf = side % 2 == 0 ? place - 1 : place + 1;
    if (!has[side] && leaf < places) edges.push_back({place, leaf, 0});
  }
  return edges;
}

/// The edge to each place in either tree, 2·place + tree, has one of two colours: another one than that to the same place in
/// the other tree, and than the other edge of its parent.
std::vector<char> edge_colours(std::array<tree_edges, 2> const& trees) {
  std::size_t const places = trees[0].size();
  std::size_t const none = 2 * places;
  std::vector<std::size_t> beside(none, none), first_of(places + 1, none);  // by edge, by parent
  for (std::size_t t = 0; t < 2; ++t)
    for (auto const& [parent, child, number] : trees[t]) {
      std::size_t const edge = 2 * child + t, other = std::exchange(first_of[parent], edge);
      if (other == none) continue;
      beside[edge] = other;
      beside[other] = edge;
    }
  constexpr char open = 2;
  std::vector<char> colours(none, open);
  // Both rules by turns lead along a path or around an even circle.
  auto const walk = [&](std::size_t edge, char colour) {
    for (; edge != none && colours[edge] == open; edge = beside[edge ^ 1]) {
      colours[edge] = colour;
      colours[edge ^ 1] = static_cast<char>(1 - colour);
    }
  };
  for (std::size_t edge = 0; edge < none; edge += 2) {
    if (colours[edge] != open) continue;
    walk(edge, 0);
    walk(beside[edge], 1);
  }
  return colours;
}

block_reads broadcast_of(rank_t ranks, rank_t root, block_t blocks) {
  block_reads reads;
  if (ranks < 2) return reads;
  rank_t const places = ranks - 1;
  std::array const trees{parity_tree(places, 1), parity_tree(places, 0)};
  auto const colours = edge_colours(trees);
  auto const rank_at = [&](rank_t place) { return place == places ? root : place < root ? place : place + 1; };
  for (std::uint32_t t = 0; t < 2; ++t) {
    std::vector<std::uint32_t> first(ranks);  // the step from which a place's first block can be read
    for (auto const& [parent, child, number] : trees[t]) {
      bool const is_turn = first[parent] % 2 == static_cast<std::uint32_t>(colours[2 * child + t]);
      std::uint32_t const step = first[parent] + (is_turn ? 0 : 1);
      first[child] = step + 1;
      append(reads, {step, rank_at(child), rank_at(parent), t}, 2, blocks, 2);
    }
  }
  return reads;
}

}  // namespace

schedule two_trees(rank_t ranks, verb what, rank_t root, block_t blocks) {
  require_blocks(ranks, blocks);
  rank_t const from = detail::is_rooted(what) ? root : 0;
  return schedule_of_broadcast(ranks, blocks, broadcast_of(ranks, from, blocks), what, from);
}

}  // namespace coset::schedule
