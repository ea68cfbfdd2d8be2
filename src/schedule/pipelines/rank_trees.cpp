// SPDX-License-Identifier: Apache-2.0
#include "schedule/pipelines/rank_trees.hpp"

#include <algorithm>

namespace coset::schedule {
namespace {

/// Appends runs of [first, last), as equal as can be.
void cut(rank_t first, rank_t last, rank_t parts, rank_t degree, std::vector<rank_run>& to) {
  std::uint64_t const size = last - first, number = std::min<std::uint64_t>(parts, size);
  for (std::uint64_t part = 0; part < number; ++part) {
    auto const begin = static_cast<rank_t>(first + size * part / number);
    auto const end = static_cast<rank_t>(first + size * (part + 1) / number);
    to.push_back({begin, end, middle_of(begin, end, degree)});
  }
}

/// Of the children of a rank with neighbours on both sides, those below it: as many as there are ranks, but one at least
/// on each side.
rank_t children_below(std::uint64_t below, std::uint64_t above, rank_t degree) {
  if (below == 0 || above == 0) return below == 0 ? 0 : degree;
  auto const share = static_cast<rank_t>((degree * below + (below + above) / 2) / (below + above));
  return std::clamp<rank_t>(share, 1, degree - 1);
}

}  // namespace

rank_t middle_of(rank_t first, rank_t last, rank_t degree) {
  return static_cast<rank_t>(first + std::uint64_t{last - first - 1} * (degree / 2) / degree);
}

void grow(rank_children& children, rank_run whole, rank_t degree) {
  std::vector<rank_run> open{whole};
  while (!open.empty()) {
    auto const [first, last, top] = open.back();
    open.pop_back();
    rank_t const below = children_below(top - first, last - top - 1, degree);
    std::vector<rank_run> parts;
    cut(top + 1, last, degree - below, degree, parts);
    std::ranges::reverse(parts);
    cut(first, top, below, degree, parts);
    for (rank_run const& part : parts) children[top].push_back(part.top);
    open.insert(open.end(), parts.begin(), parts.end());
  }
}

std::size_t most_children(rank_children const& children) {
  std::size_t most = 0;
  for (auto const& of_rank : children) most = std::max(most, of_rank.size());
  return most;
}

}  // namespace coset::schedule
