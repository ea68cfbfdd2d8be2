// SPDX-License-Identifier: Apache-2.0
#include "planning/schedule/pipelines/rank_trees.hpp"

#include <algorithm>
#include <utility>

namespace coset::schedule {
namespace {

/// Of the children of a rank with others on both sides, those below it: as many as there are ranks, but one at least on
/// each side.
rank_t children_below(std::uint64_t below, std::uint64_t above, rank_t degree) {
  if (below == 0 || above == 0) return below == 0 ? 0 : degree;
  auto const share = static_cast<rank_t>((degree * below + (below + above) / 2) / (below + above));
  return std::clamp<rank_t>(share, 1, degree - 1);
}

}  // namespace

rank_run balanced(rank_t first, rank_t last, rank_t degree) {
  return {first, last, static_cast<rank_t>(first + std::uint64_t{last - first - 1} * (degree / 2) / degree)};
}

void grow(tree_edges& edges, rank_run whole, rank_t degree) {
  // The last part goes on here, so that chains need no deep recursion.
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    auto const [first, last, top] = whole;
    rank_t const below = children_below(top - first, last - top - 1, degree);
    std::uint32_t number = 0;
    for (bool const is_above : {true, false}) {
      rank_t const begin = is_above ? top + 1 : first;
      std::uint64_t const size = is_above ? last - begin : top - begin;
      std::uint64_t const parts = std::min<std::uint64_t>(is_above ? degree - below : below, size);
      for (std::uint64_t i = 0; i < parts; ++i) {
        if (std::exchange(goes_on, true)) grow(edges, whole, degree);
        std::uint64_t const part = is_above ? parts - 1 - i : i;
        whole = balanced(static_cast<rank_t>(begin + size * part / parts),
                         static_cast<rank_t>(begin + size * (part + 1) / parts), degree);
        edges.push_back({top, whole.top, number++});
      }
    }
  }
}

std::uint32_t most_children(tree_edges const& edges) {
  std::uint32_t most = 0;
  for (tree_edge const& e : edges) most = std::max(most, e.number + 1);
  return most;
}

}  // namespace coset::schedule
