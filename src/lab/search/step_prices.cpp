// SPDX-License-Identifier: Apache-2.0
#include "lab/search/step_prices.hpp"

#include <string>
#include <utility>

namespace coset::schedule {
namespace {

constexpr rank_t most_searched_ranks = 1024;

enum class direction : char { there, back };

/// What all ranks do in a step, with a block for each shift, as long as what it moves.
schedule step_of(group const& ranks, std::vector<transfer> const& step, direction way,
                 std::vector<fraction> const& sizes) {
  schedule made;
  made.ranks = ranks.order();
  made.steps.resize(1);
  fraction offset = 0;
  for (std::size_t k = 0; k < step.size(); ++k) {
    made.blocks.push_back({offset, sizes[k]});
    offset += sizes[k];
    element const from = way == direction::there ? step[k].shift : ranks.negate(step[k].shift);
    for (rank_t r = 0; r < made.ranks; ++r) {
      auto const first = static_cast<std::uint32_t>(made.sources.size());
      if (way == direction::there) made.sources.push_back({r, 0});
      made.sources.push_back({ranks.add(r, from), 0});
      auto const count = static_cast<std::uint32_t>(made.sources.size()) - first;
      made.steps[0].push_back({r, static_cast<block_t>(k), 1, first, count});
    }
  }
  return made;
}

}  // namespace

void require_searchable(rank_t ranks) {
  if (ranks > most_searched_ranks)
    throw schedule_error("a search is for at most " + std::to_string(most_searched_ranks) + " ranks, not " +
                         std::to_string(ranks));
}

step_prices::step_prices(group const& ranks, std::shared_ptr<machine const> on, double bytes)
    : ranks_(ranks), on_(std::move(on)), bytes_(bytes) {
  require_searchable(ranks.order());
  if (on_->ranks() != ranks.order())
    throw schedule_error("the machine joins " + std::to_string(on_->ranks()) + " ranks, not " +
                         std::to_string(ranks.order()));
  rows_.resize(ranks.order());
}

std::vector<double> const& step_prices::row_of(element shift) const {
  auto& row = rows_[shift];
  if (!row.empty()) return row;
  rank_t const p = ranks_.order();
  std::vector<transfer> const step{{shift, {}}};
  counts const there(step_of(ranks_, step, direction::there, {1}), *on_),
      back(step_of(ranks_, step, direction::back, {1}), *on_);
  for (rank_t n = 0; n < p; ++n) row.push_back(there.seconds(bytes_ * n / p) + back.seconds(bytes_ * n / p));
  return row;
}

double step_prices::seconds(std::vector<transfer> const& step) const {
  if (step.size() == 1) return seconds(step.front().shift, static_cast<rank_t>(step.front().lags.size()));
  std::vector<fraction> sizes;
  for (transfer const& sent : step)
    sizes.emplace_back(static_cast<std::int64_t>(sent.lags.size()), std::int64_t{ranks_.order()});
  double sum = 0;
  for (direction const way : {direction::there, direction::back}) sum += seconds(step_of(ranks_, step, way, sizes));
  return sum;
}

}  // namespace coset::schedule
