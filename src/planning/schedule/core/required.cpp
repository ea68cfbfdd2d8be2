// SPDX-License-Identifier: Apache-2.0
// The verbs' requirements.
#include "planning/schedule/core/required.hpp"

#include <algorithm>

#include "base/text/format.hpp"
#include "base/text/suggestion.hpp"

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
  rank_t const ranks = schedule_.ranks;
  detail::share const gets = detail::gets(schedule_.verb, rank == schedule_.root);
  if (gets == detail::share::nothing || (gets == detail::share::piece && rank != owners_[b])) return {0, 0};
  auto const one = [](rank_t r) { return rank_range{r, r + 1}; };
  switch (detail::row_of(schedule_.verb).of) {
    case detail::contributors::all:
      return {0, ranks};
    case detail::contributors::up_to_own:
      return {0, rank + 1};
    case detail::contributors::before_own:
      return {0, rank};
    case detail::contributors::owner:
      return one(owners_[b]);
    case detail::contributors::root:
      return one(*schedule_.root);
    case detail::contributors::partner:
      return one((rank + ranks - owners_[b]) % ranks);
  }
  __builtin_unreachable();
}

bool requirements::has_input(rank_t rank, block_t b) const {
  detail::share const gives = detail::gives(schedule_.verb, rank == schedule_.root);
  if (gives == detail::share::piece) return rank == owners_[b];
  return gives == detail::share::whole;
}

verb scheduled_verb(std::string_view name) {
  std::vector<std::string> all;
  for (verb const known : all_verbs()) {
    if (!has_schedules(known)) continue;
    if (name_of(known) == name) return known;
    all.emplace_back(name_of(known));
  }
  throw schedule_error("unknown collective '" + std::string(name) + "'; there are " + text::joined(all, ", ") +
                       text::did_you_mean(name, all));
}

}  // namespace coset::schedule
