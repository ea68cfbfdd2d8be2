// SPDX-License-Identifier: Apache-2.0
#include "planning/schedule/model/block_number.hpp"

#include <algorithm>
#include <cmath>

#include "planning/schedule/registry/least_steps.hpp"

namespace coset::schedule {

std::uint32_t few_blocks(rank_t ranks) { return 2 * ceil_log(ranks, 2) + 2; }

namespace {

double per_block(two_numbers const& n, double price::*what) {
  return (n.of_many.*what - n.of_few.*what) / (n.many - n.few);
}
double per_part(two_numbers const& n, double price::*what) {
  return (n.of_few.*what - n.of_many.*what) / (1 / n.few - 1 / n.many);
}

}  // namespace

double two_numbers::best(double most) const {
  double const growing = per_block(*this, &price::latency) + per_block(*this, &price::peers);
  double const shrinking = per_part(*this, &price::transfer) + per_part(*this, &price::combine);
  // Rounding errors of what is the same for every number are no reason to cut.
  if (shrinking <= 1e-9 * (of_few.transfer + of_few.combine)) return 1;
  if (growing <= 0) return most;
  auto const total = [&](double n) { return growing * n + shrinking / n; };
  double const exact = std::clamp(std::sqrt(shrinking / growing), 1.0, most);
  double const below = std::floor(exact), above = std::min(std::ceil(exact), most);
  return total(below) <= total(above) ? below : std::floor(above);
}

price two_numbers::of(double blocks) const {
  price made = of_few;
  for (auto const what : {&price::latency, &price::peers}) made.*what += per_block(*this, what) * (blocks - few);
  for (auto const what : {&price::transfer, &price::combine})
    made.*what += per_part(*this, what) * (1 / blocks - 1 / few);
  return made;
}

}  // namespace coset::schedule
