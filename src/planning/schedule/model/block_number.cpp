// SPDX-License-Identifier: Apache-2.0
#include "planning/schedule/model/block_number.hpp"

#include <algorithm>
#include <cmath>

#include "planning/schedule/pipelines/block_reads.hpp"
#include "planning/schedule/registry/least_steps.hpp"

namespace coset::schedule {
std::uint32_t few_blocks(rank_t ranks) { return 2 * ceil_log(ranks, 2) + 2; }

algorithm with_blocks(algorithm how, std::uint32_t blocks) {
  how.parameters["blocks"] = value_of(blocks);
  return how;
}

std::vector<algorithm> with_best_blocks(std::vector<algorithm> all, demand const& wanted, machine const& on,
                                        double bytes) {
  auto const count = [&](schedule const& made) {
    return [work = counts(made, on)](double size) { return work.priced(size); };
  };
  for (algorithm& how : all) {
    if (!has_blocks(find_algorithm(how.name))) continue;
    how = with_blocks(how, block_numbers(how, wanted.ranks, wanted.verb, wanted.root, count).best(bytes));
  }
  return all;
}

block_numbers::block_numbers(algorithm const& how, rank_t ranks, verb what, rank_t root,
                             std::function<pricing(schedule const&)> const& count)
    : ranks_(ranks) {
  if (!has_blocks(find_algorithm(how.name))) throw schedule_error(how.text() + " takes no number of blocks");
  auto const counted = [&](std::uint32_t blocks) { return count(make(with_blocks(how, blocks), ranks, what, root)); };
  of_few_ = counted(few_blocks(ranks));
  of_many_ = counted(2 * few_blocks(ranks));
}

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

std::uint32_t block_numbers::best(double bytes) const {
  double const few = few_blocks(ranks_);
  double const most = std::max(1.0, std::min({bytes, double{most_blocks}, double{1 << 22} / ranks_}));
  return static_cast<std::uint32_t>(two_numbers{few, 2 * few, of_few_(bytes), of_many_(bytes)}.best(most));
}

}  // namespace coset::schedule
