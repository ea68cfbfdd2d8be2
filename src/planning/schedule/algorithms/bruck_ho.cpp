// SPDX-License-Identifier: Apache-2.0
// Bruck–Ho: two values per rank x, the fold of x+1..x+c ("others") and that of x..x+c ("with own").
#include "planning/schedule/algorithms/bruck_ho.hpp"

#include <algorithm>

#include "planning/schedule/core/assembly.hpp"

namespace coset::schedule {
namespace {

std::vector<rank_t> digits(rank_t number, rank_t base) {
  std::vector<rank_t> found;
  for (; number > 0; number /= base) found.push_back(number % base);
  std::ranges::reverse(found);
  return found;
}

// What a rank reads in one round, in cyclic order: whole values up to the digit, then values without their own input.
std::vector<source> reads(rank_t ranks, rank_t x, rank_t ports, rank_t digit, rank_t covered, slot_t with_own,
                          slot_t others) {
  auto const ahead = [&](rank_t distance) { return (x + distance) % ranks; };
  std::vector<source> from;
  for (rank_t i = 1; i <= digit; ++i) from.push_back({ahead(i * (covered + 1)), with_own});
  for (rank_t j = 1; covered > 0 && j <= ports - digit; ++j)
    from.push_back({ahead(digit * (covered + 1) + j * covered), others});
  return from;
}

}  // namespace

schedule bruck_ho(rank_t ranks, rank_t ports) {
  assembly building(ranks);
  rank_t covered = 0;
  slot_t with_own = 0, others = no_slot;  // the same on every rank
  auto const rounds = digits(ranks - 1, ports + 1);
  for (std::size_t round = 0; round < rounds.size(); ++round) {
    bool const last = round + 1 == rounds.size();
    slot_t next_with_own = 0, next_others = 0;
    for (rank_t x = 0; x < ranks; ++x) {
      auto from = reads(ranks, x, ports, rounds[round], covered, with_own, others);
      if (!last) {
        if (covered > 0) from.insert(from.begin(), source{x, others});
        next_others = building.assign(x, 0, from);
        from = {{x, 0}, {x, next_others}};
      } else {
        from.insert(from.begin(), source{x, with_own});
      }
      next_with_own = building.assign(x, 0, from);
      building.hold(x, 0, next_with_own);
    }
    building.end_step();
    with_own = next_with_own;
    others = next_others;
    covered = (ports + 1) * covered + rounds[round];
  }
  return std::move(building).finish();
}

}  // namespace coset::schedule
