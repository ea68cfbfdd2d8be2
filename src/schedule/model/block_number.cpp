// SPDX-License-Identifier: Apache-2.0
#include "schedule/model/block_number.hpp"

#include <algorithm>
#include <cmath>

#include "schedule/pipelines/block_reads.hpp"
#include "schedule/registry/least_steps.hpp"

namespace coset::schedule {
namespace {

/// An even number, for what goes along two trees by turns.
std::uint32_t few_blocks(rank_t ranks) { return 2 * ceil_log(ranks, 2) + 2; }

}  // namespace

algorithm with_blocks(algorithm how, std::uint32_t blocks) {
  how.parameters["blocks"] = value_of(blocks);
  return how;
}

std::vector<algorithm> with_best_blocks(std::vector<algorithm> all, demand const& wanted, cost_model const& model,
                                        rank_levels const& levels, double bytes) {
  auto const count = [&](schedule const& made) {
    return [&model, work = counts(made, levels)](double size) { return work.priced(model, size); };
  };
  for (algorithm& how : all) {
    if (!has_blocks(find_algorithm(how.name))) continue;
    how = with_blocks(how, block_numbers(how, wanted.ranks, wanted.verb, wanted.root, count).best(bytes));
  }
  return all;
}

block_numbers::block_numbers(algorithm const& how, rank_t ranks, collective verb, rank_t root,
                             std::function<pricing(schedule const&)> const& count)
    : ranks_(ranks) {
  if (!has_blocks(find_algorithm(how.name))) throw schedule_error(how.text() + " takes no number of blocks");
  auto const priced = [&](std::uint32_t blocks) -> priced_number {
    return {static_cast<double>(blocks), count(make(with_blocks(how, blocks), ranks, verb, root))};
  };
  few_ = priced(few_blocks(ranks));
  many_ = priced(2 * few_blocks(ranks));
}

std::uint32_t block_numbers::best(double bytes) const {
  auto const latency = [&](priced_number const& n) {
    price const p = n.price_of(bytes);
    return p.latency + p.peers;
  };
  auto const moving = [&](priced_number const& n) {
    price const p = n.price_of(bytes);
    return p.transfer + p.combine;
  };
  double const per_block = (latency(many_) - latency(few_)) / (many_.blocks - few_.blocks);
  double const per_part = (moving(few_) - moving(many_)) / (1 / few_.blocks - 1 / many_.blocks);
  double const most = std::max(1.0, std::min({bytes, double{most_blocks}, double{1 << 22} / ranks_}));
  // Rounding errors of what is the same for every number are no reason to cut.
  bool const gains = per_part > 1e-9 * moving(few_);
  if (!gains) return 1;
  if (per_block <= 0) return static_cast<std::uint32_t>(most);
  auto const total = [&](double n) { return per_block * n + per_part / n; };
  double const exact = std::clamp(std::sqrt(per_part / per_block), 1.0, most);
  double const below = std::floor(exact), above = std::min(std::ceil(exact), most);
  return static_cast<std::uint32_t>(total(below) <= total(above) ? below : std::floor(above));
}

}  // namespace coset::schedule
