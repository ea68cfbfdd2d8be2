// SPDX-License-Identifier: Apache-2.0
#include "command/shown/selector.hpp"

#include <algorithm>

#include "planning/schedule/model/block_number.hpp"
#include "planning/schedule/pipelines/block_reads.hpp"

namespace coset::schedule {

selector::selector(demand const& wanted, cost_model const& model)
    : selector(wanted, level_machine(wanted.ranks, model)) {}

selector::selector(demand const& wanted, level_machine const& on)
    : selector(wanted, on, candidates_for(wanted, on.costs())) {}

selector::selector(demand const& wanted, level_machine const& on, std::vector<algorithm> const& tried) {
  for (algorithm const& how : tried) {
    if (auto one = count(how, wanted, on)) candidates_.push_back(std::move(*one));
  }
  if (candidates_.empty())
    throw schedule_error("no algorithm serves " + std::string(name_of(wanted.verb)) + " on " +
                         std::to_string(wanted.ranks) + " ranks with these bits and this order");
}

std::vector<scored> selector::rank(double bytes) const {
  std::vector<scored> result;
  for (candidate const& c : candidates_) result.push_back({&c, c.work.seconds(bytes)});
  std::ranges::stable_sort(result, {}, &scored::seconds);
  return result;
}

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

std::uint32_t block_numbers::best(double bytes) const {
  double const few = few_blocks(ranks_);
  double const most = std::max(1.0, std::min({bytes, double{most_blocks}, double{1 << 22} / ranks_}));
  return static_cast<std::uint32_t>(two_numbers{few, 2 * few, of_few_(bytes), of_many_(bytes)}.best(most));
}

}  // namespace coset::schedule
