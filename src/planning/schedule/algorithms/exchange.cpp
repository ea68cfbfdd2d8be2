// SPDX-License-Identifier: Apache-2.0
// Pairwise exchange and the butterfly with virtual ranks.
#include "planning/schedule/algorithms/exchange.hpp"

#include <array>
#include <bit>

#include "planning/schedule/core/assembly.hpp"

namespace coset::schedule {

schedule pairwise_exchange(rank_t ranks) {
  rank_t const core = std::bit_floor(ranks);
  assembly building(ranks);
  for (rank_t extra = core; extra < ranks; ++extra) building.fold(extra - core, {}, std::array{extra - core, extra});
  building.end_step();
  for (rank_t bit = 1; bit < core; bit *= 2) {
    for (rank_t r = 0; r < core; ++r) building.fold(r, {}, std::array{r & ~bit, r | bit});
    building.end_step();
  }
  for (rank_t extra = core; extra < ranks; ++extra) building.fold(extra, {}, std::array{extra - core});
  building.end_step();
  return std::move(building).finish();
}

schedule butterfly(rank_t ranks) {
  rank_t const all = std::bit_ceil(ranks);
  auto const player = [&](rank_t v) { return v < ranks ? v : v - ranks; };
  assembly building(ranks);
  std::vector<slot_t> value(all, 0);  // of each virtual rank, on its player
  for (rank_t bit = 1; bit < all; bit *= 2) {
    auto const before = value;
    rank_t const needed = bit * 2 < all ? all : ranks;
    for (rank_t v = 0; v < needed; ++v) {
      std::array const from{source{player(v & ~bit), before[v & ~bit]}, source{player(v | bit), before[v | bit]}};
      value[v] = building.assign(player(v), 0, from);
    }
    building.end_step();
  }
  for (rank_t r = 0; r < ranks; ++r) building.hold(r, 0, value[r]);
  building.end_step();
  auto made = std::move(building).finish();
  made.idempotent_only = all != ranks;
  return made;
}

}  // namespace coset::schedule
