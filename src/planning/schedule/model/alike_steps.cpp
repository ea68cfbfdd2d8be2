// SPDX-License-Identifier: Apache-2.0
#include "planning/schedule/model/alike_steps.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "planning/schedule/core/events.hpp"

namespace coset::schedule {

alike_steps steps_of(symmetric_schedule const& s) {
  alike_steps made{.ranks = s.ranks, .parts = s.whole ? 1 : std::int64_t{s.ranks.order()}};
  for (auto const& assignments : s.steps) {
    alike_step step;
    std::vector<value_read> reads;  // of rank 0, from the rank of the displacement
    for (symmetric_assignment const& a : assignments) {
      step.combined += std::int64_t{a.count} - 1;
      for (symmetric_source const& from : std::span(s.sources).subspan(a.first, a.count))
        if (from.displacement != 0) reads.push_back({0, from.displacement, a.lag, from.slot});
    }
    sort(reads);
    for (value_read const& r : reads) {
      if (step.reads.empty() || step.reads.back().first != r.from) step.reads.emplace_back(r.from, 0);
      ++step.reads.back().second;
    }
    made.steps.push_back(std::move(step));
  }
  return made;
}

namespace {

/// Ranks whose numbers differ in one digit, of `size` values and this weight, read so much from each other.
std::vector<std::pair<element, std::int64_t>> in_digit(rank_t weight, rank_t size, std::int64_t volume) {
  std::vector<std::pair<element, std::int64_t>> reads;
  for (rank_t value = 1; value < size; ++value) reads.emplace_back(value * weight, volume);
  return reads;
}

}  // namespace

/// Every unsaved dimension scatters what the ones before left and is gathered in the end; saved ones fold that whole. A root
/// wants results of saved dimensions on its own coordinate of these alone, and gathers on fewer and fewer ranks. What it
/// spreads takes the ways of the folds, from more and more ranks.
alike_steps steps_of_product(std::vector<rank_t> const& dimensions, std::uint32_t saved_steps, verb what) {
  bool const gives = detail::is_from_root(what), gets = detail::is_to_root(what);
  bool const folds = !detail::gives_pieces(what);
  bool const spreads = !detail::gets_pieces(what) && !detail::swaps_pieces(what);
  bool const combines = !detail::only_moves(what) || detail::is_barrier(what);
  std::size_t const saved = folds && spreads ? std::min<std::size_t>(saved_steps, dimensions.size()) : 0;
  auto const ranks = std::accumulate(dimensions.begin(), dimensions.end(), rank_t{1}, std::multiplies());
  alike_steps made{.ranks = group(dimensions), .parts = ranks, .by_whole_digits = true};
  std::vector<alike_step> gathered;
  std::int64_t piece = ranks;
  rank_t weight = 1, unsaved = 1;
  for (std::size_t i = 0; i < dimensions.size(); weight *= dimensions[i++]) {
    rank_t const size = dimensions[i];
    bool const whole = i + saved >= dimensions.size();
    if (size == 1) continue;
    if (!whole) piece /= size;
    alike_step fold{.reads = in_digit(weight, size, piece), .combined = combines ? piece * (size - 1) : 0};
    alike_step spread{.reads = fold.reads};
    if (gives) fold.period = ranks, fold.run = weight, fold.gives = true;
    if (gets && whole) fold.period = weight * size, fold.run = unsaved;
    if (gets) spread.period = ranks, spread.run = weight;
    if (folds) made.steps.push_back(std::move(fold));
    if (!whole) gathered.push_back(std::move(spread)), unsaved *= size;
  }
  if (spreads) made.steps.insert(made.steps.end(), gathered.rbegin(), gathered.rend());
  return made;
}

}  // namespace coset::schedule
