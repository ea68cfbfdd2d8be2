// SPDX-License-Identifier: Apache-2.0
// The verbs' requirements.
#include "schedule/core/required.hpp"

#include <algorithm>

namespace coset::schedule {

namespace {

/// The verbs that schedules are made for come first; the others are allreduces of another kind of result.
auto verbs_of_schedules() { return all_verbs().first(static_cast<std::size_t>(verb::barrier) + 1); }

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

collective collective_of(std::string_view name) {
  std::string all;
  for (collective const known : verbs_of_schedules()) {
    if (name_of(known) == name) return known;
    all += (all.empty() ? "" : ", ") + std::string(name_of(known));
  }
  throw schedule_error("unknown collective '" + std::string(name) + "'; there are " + all);
}

}  // namespace coset::schedule
