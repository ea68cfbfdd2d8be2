// SPDX-License-Identifier: Apache-2.0
#include "schedule/pipelines/two_trees.hpp"

#include <array>
#include <optional>
#include <utility>

#include "schedule/pipelines/read_steps.hpp"

namespace coset::schedule {
namespace {

/// A tree over places 0 … n−1 in order, in which only places of one parity have children: below each of them a run of
/// places, between it and the neighbours of its parity that stand above it.
struct parity_tree {
  rank_t top = 0;
  std::vector<std::vector<rank_t>> children;

  parity_tree(rank_t places, rank_t parity) : children(places) {
    rank_t const inner = places > parity ? (places - parity + 1) / 2 : 0;
    auto const place = [&](rank_t i) { return parity + 2 * i; };
    auto const middle = [](rank_t first, rank_t last) { return first + (last - first) / 2; };
    if (inner > 0) top = place(middle(0, inner));
    std::vector<std::pair<rank_t, rank_t>> open;  // runs of inner places
    if (inner > 0) open.emplace_back(0, inner);
    while (!open.empty()) {
      auto const [first, last] = open.back();
      open.pop_back();
      rank_t const here = middle(first, last), at = place(here);
      auto const hang = [&](rank_t from, rank_t to, bool has_leaf, rank_t leaf) {
        if (from < to) {
          children[at].push_back(place(middle(from, to)));
          open.emplace_back(from, to);
        } else if (has_leaf) {
          children[at].push_back(leaf);
        }
      };
      hang(first, here, at > 0, at - 1);
      hang(here + 1, last, at + 1 < places, at + 1);
    }
  }
};

/// Which of two colours the edge to each place has in the first tree; in the second it has the other one.
class edge_colours {
 public:
  explicit edge_colours(std::array<parity_tree, 2> const& trees) : related_(trees[0].children.size()) {
    for (parity_tree const& tree : trees)
      for (auto const& siblings : tree.children)
        if (siblings.size() == 2) relate(siblings[0], siblings[1], true);
    // The root gives to both tops, so their edges differ; these are of different trees.
    relate(trees[0].top, trees[1].top, false);
    colours_.resize(related_.size());
    for (rank_t place = 0; place < related_.size(); ++place) spread_from(place);
  }

  std::size_t operator()(std::size_t tree, rank_t place) const { return *colours_[place] == (tree == 1) ? 0 : 1; }

 private:
  struct relation {
    rank_t place;
    bool differs;
  };

  void relate(rank_t a, rank_t b, bool differ) {
    related_[a].push_back({b, differ});
    related_[b].push_back({a, differ});
  }

  /// Relations form paths and circles; a circle alternates between edges that give and edges that read, so it is even.
  void spread_from(rank_t place) {
    if (colours_[place]) return;
    colours_[place] = false;
    for (std::vector<rank_t> open{place}; !open.empty();) {
      rank_t const at = open.back();
      open.pop_back();
      for (relation const& other : related_[at])
        if (!colours_[other.place]) {
          colours_[other.place] = *colours_[at] != other.differs;
          open.push_back(other.place);
        }
    }
  }

  std::vector<std::vector<relation>> related_;
  std::vector<std::optional<bool>> colours_;
};

read_steps broadcast_of(rank_t ranks, rank_t root, block_t blocks) {
  read_steps steps;
  if (ranks < 2) return steps;
  std::array const trees{parity_tree(ranks - 1, 1), parity_tree(ranks - 1, 0)};
  edge_colours const colour(trees);
  auto const rank_at = [&](rank_t place) { return place < root ? place : place + 1; };
  for (std::size_t t = 0; t < trees.size(); ++t) {
    struct edge {
      rank_t giver, place;
      std::size_t earliest;
    };
    for (std::vector<edge> open{{root, trees[t].top, 0}}; !open.empty();) {
      auto const [giver, place, earliest] = open.back();
      open.pop_back();
      std::size_t const first = earliest + (earliest % 2 == colour(t, place) ? 0 : 1);
      append(steps, {rank_at(place), giver, first, 2, false, static_cast<block_t>(t), 2}, blocks);
      for (rank_t const child : trees[t].children[place]) open.push_back({rank_at(place), child, first + 1});
    }
  }
  return steps;
}

}  // namespace

schedule two_trees(rank_t ranks, collective verb, rank_t root, block_t blocks) {
  require_room(ranks, blocks);
  rank_t const from = verb == collective::allreduce ? 0 : root;
  return schedule_of_broadcast(ranks, blocks, broadcast_of(ranks, from, blocks), verb, from);
}

}  // namespace coset::schedule
