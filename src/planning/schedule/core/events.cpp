// SPDX-License-Identifier: Apache-2.0
// Flattening and sorting schedules, and the common unit of their blocks.
#include "planning/schedule/core/events.hpp"

#include <algorithm>

namespace coset::schedule {

std::vector<event> events_of(schedule const& s) {
  std::size_t total = 0;
  for (auto const& step : s.steps) total += step.size();
  std::vector<event> events;
  events.reserve(total);
  for (std::uint32_t i = 0; i < s.steps.size(); ++i)
    for (assignment const& a : s.steps[i]) events.push_back({i, &a});
  return events;
}

void sort_by_step_and_rank(std::vector<event>& events, schedule const& s) {
  sort_by(events, s.ranks, [](event const& e) { return e.made->rank; });
  sort_by(events, s.steps.size(), [](event const& e) { return e.step; });
}

units::units(schedule const& s) {
  constexpr std::int64_t limit = std::int64_t{1} << 40;
  for (block const& b : s.blocks) {
    std::int64_t const factor = b.size.denominator() / std::gcd(denominator, b.size.denominator());
    if (factor > limit / denominator) throw schedule_error("the sizes of the blocks have no common unit above 2^-40");
    denominator *= factor;
  }
  for (block const& b : s.blocks) size.push_back(b.size.numerator() * (denominator / b.size.denominator()));
}

void sort(std::vector<value_read>& reads) {
  std::ranges::sort(reads);
  reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
}

step_messages messages_in(schedule const& s, std::size_t step, units const& unit) {
  step_messages all;
  std::vector<value_read> reads;
  for (assignment const& a : s.steps[step]) {
    all.combined[a.rank] += unit.size[a.block] * (std::int64_t{a.count} - 1);
    for (source const& from : s.from(a))
      if (from.rank != a.rank) reads.push_back({a.rank, from.rank, a.block, from.slot});
  }
  sort(reads);
  for (value_read const& r : reads) {
    if (all.messages.empty() || all.messages.back().to != r.to || all.messages.back().from != r.from)
      all.messages.push_back({r.to, r.from, 0});
    all.messages.back().volume += unit.size[r.block];
  }
  return all;
}

}  // namespace coset::schedule
