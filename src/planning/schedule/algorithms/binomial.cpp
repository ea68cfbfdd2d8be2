// SPDX-License-Identifier: Apache-2.0
// The binomial tree: runs of neighbours joined round by round; broadcast goes the same way back.
#include "planning/schedule/algorithms/binomial.hpp"

#include <algorithm>
#include <array>

#include "planning/schedule/core/assembly.hpp"

namespace coset::schedule {
namespace {

// A run of ranks is joined from up to `radix` runs: the holders of their values, and the holder of the joined one.
struct join {
  rank_t holder;
  std::vector<rank_t> from;
};

std::vector<std::vector<join>> joins_of(rank_t ranks, rank_t root, rank_t radix) {
  auto const holder = [&](std::uint64_t first, std::uint64_t length) {
    return root >= first && root < first + length ? root : static_cast<rank_t>(first);
  };
  std::vector<std::vector<join>> rounds;
  for (std::uint64_t length = 1; length < ranks; length *= radix) {
    auto& round = rounds.emplace_back();
    for (std::uint64_t first = 0; first < ranks; first += length * radix) {
      join joined{holder(first, length * radix), {}};
      std::uint64_t const last = std::min<std::uint64_t>(first + length * radix, ranks);
      for (std::uint64_t part = first; part < last; part += length) joined.from.push_back(holder(part, length));
      round.push_back(joined);
    }
  }
  return rounds;
}

}  // namespace

schedule binomial(rank_t ranks, verb what, rank_t root, rank_t radix) {
  auto rounds = joins_of(ranks, root, radix);
  assembly building(ranks);
  for (auto const& round : rounds) {
    if (detail::is_from_root(what)) break;
    for (auto const& [holder, from] : round) building.fold(holder, {}, from);
    building.end_step();
  }
  std::ranges::reverse(rounds);
  for (auto const& round : rounds) {
    if (detail::is_to_root(what)) break;
    for (auto const& [holder, to] : round)
      for (rank_t const r : to) building.fold(r, {}, std::array{holder});
    building.end_step();
  }
  return std::move(building).finish(what, root);
}

}  // namespace coset::schedule
