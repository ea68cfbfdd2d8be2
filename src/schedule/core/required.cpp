// SPDX-License-Identifier: Apache-2.0
// The verbs' requirements, and their names.
#include "schedule/core/required.hpp"

#include <algorithm>
#include <array>

namespace coset::schedule {

namespace {

constexpr std::array<std::string_view, 8> names{"allreduce", "reduce", "reduce_scatter", "allgather",
                                                "broadcast", "scan",   "exclusive_scan", "barrier"};

/// The rank whose piece of the vector, [rank/P, (rank+1)/P), holds the block.
rank_t owner(schedule const& s, block_t b) {
  fraction const begin = s.blocks[b].offset * s.ranks, end = begin + s.blocks[b].size * s.ranks;
  auto const piece = std::min<std::int64_t>(begin.floor(), std::int64_t{s.ranks} - 1);
  if (end > fraction(piece + 1))
    throw schedule_error("block " + std::to_string(b) + " spans the pieces of several ranks, which " +
                         std::string(name_of(s.verb)) + " cannot have");
  return static_cast<rank_t>(piece);
}

}  // namespace

requirements::requirements(schedule const& s) : schedule_(s) {
  bool const rooted = s.verb == collective::reduce || s.verb == collective::broadcast;
  if (rooted && (!s.root || *s.root >= s.ranks))
    throw schedule_error(std::string(name_of(s.verb)) + " needs a root below " + std::to_string(s.ranks));
  if (s.verb == collective::reduce_scatter || s.verb == collective::allgather)
    for (block_t b = 0; b < s.blocks.size(); ++b) owners_.push_back(owner(s, b));
}

rank_range requirements::operator()(rank_t rank, block_t b) const {
  rank_range const all{0, schedule_.ranks}, none{0, 0};
  switch (schedule_.verb) {
    case collective::reduce:
      return rank == *schedule_.root ? all : none;
    case collective::reduce_scatter:
      return rank == owners_[b] ? all : none;
    case collective::allgather:
      return {owners_[b], owners_[b] + 1};
    case collective::broadcast:
      return {*schedule_.root, *schedule_.root + 1};
    case collective::scan:
      return {0, rank + 1};
    case collective::exclusive_scan:
      return {0, rank};
    default:
      return all;  // allreduce and barrier
  }
}

bool requirements::has_input(rank_t rank, block_t b) const {
  bool const one_origin = schedule_.verb == collective::broadcast || schedule_.verb == collective::allgather;
  return !one_origin || (*this)(rank, b).contains(rank);
}

std::string_view name_of(collective verb) { return names.at(static_cast<std::size_t>(verb)); }

collective collective_of(std::string_view name) {
  auto const found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<collective>(found - names.begin());
  std::string all;
  for (auto const known : names) all += (all.empty() ? "" : ", ") + std::string(known);
  throw schedule_error("unknown collective '" + std::string(name) + "'; there are " + all);
}

}  // namespace coset::schedule
