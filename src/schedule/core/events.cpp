// SPDX-License-Identifier: Apache-2.0
// Flattening and sorting schedules, and the common unit of their blocks.
#include "schedule/core/events.hpp"

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

}  // namespace coset::schedule
