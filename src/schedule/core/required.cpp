// SPDX-License-Identifier: Apache-2.0
// The verbs' requirements.
#include "schedule/core/required.hpp"

#include <algorithm>

namespace coset::schedule {

namespace {

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
  if (detail::is_rooted(s.verb) && (!s.root || *s.root >= s.ranks))
    throw schedule_error(std::string(name_of(s.verb)) + " needs a root below " + std::to_string(s.ranks));
  if (detail::is_of_pieces(s.verb))
    for (block_t b = 0; b < s.blocks.size(); ++b) owners_.push_back(owner(s, b));
}

rank_range requirements::operator()(rank_t rank, block_t b) const {
  rank_range const all{0, schedule_.ranks}, none{0, 0};
  switch (schedule_.verb) {
    case verb::reduce:
      return rank == *schedule_.root ? all : none;
    case verb::reduce_scatter:
      return rank == owners_[b] ? all : none;
    case verb::allgather:
      return {owners_[b], owners_[b] + 1};
    case verb::broadcast:
      return {*schedule_.root, *schedule_.root + 1};
    case verb::scan:
      return {0, rank + 1};
    case verb::exclusive_scan:
      return {0, rank};
    case verb::gather:
      return rank == *schedule_.root ? rank_range{owners_[b], owners_[b] + 1} : none;
    case verb::scatter:
      return rank == owners_[b] ? rank_range{*schedule_.root, *schedule_.root + 1} : none;
    case verb::all_to_all: {
      rank_t const origin = (rank + schedule_.ranks - owners_[b]) % schedule_.ranks;
      return {origin, origin + 1};
    }
    case verb::allreduce:
    case verb::barrier:
    case verb::reduce_shared:
    case verb::allreduce_view:
      return all;
  }
  __builtin_unreachable();
}

bool requirements::has_input(rank_t rank, block_t b) const {
  switch (schedule_.verb) {
    case verb::allgather:
    case verb::gather:
      return rank == owners_[b];
    case verb::broadcast:
    case verb::scatter:
      return rank == *schedule_.root;
    case verb::allreduce:
    case verb::reduce:
    case verb::reduce_scatter:
    case verb::scan:
    case verb::exclusive_scan:
    case verb::barrier:
    case verb::reduce_shared:
    case verb::allreduce_view:
    case verb::all_to_all:
      return true;
  }
  __builtin_unreachable();
}

verb scheduled_verb(std::string_view name) {
  std::string all;
  for (verb const known : all_verbs()) {
    if (!has_schedules(known)) continue;
    if (name_of(known) == name) return known;
    all += (all.empty() ? "" : ", ") + std::string(name_of(known));
  }
  throw schedule_error("unknown collective '" + std::string(name) + "'; there are " + all);
}

}  // namespace coset::schedule
