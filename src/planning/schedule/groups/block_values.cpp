// SPDX-License-Identifier: Apache-2.0
#include "planning/schedule/groups/block_values.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

namespace coset::schedule {
namespace {

[[noreturn]] void refuse(char const* why) { throw schedule_error(std::string("on every rank: ") + why); }

}  // namespace

block_values::block_values(symmetric_schedule const& of, bool inputs_at_home_alone)
    : of_(of), first_(of.result.size() + 1, 1), from_(of.sources.size()) {
  std::size_t assignments = 0;
  for (auto const& step : of.steps) assignments += step.size();
  for (auto const& step : of.steps)
    for (symmetric_assignment const& a : step) {
      if (a.lag >= of.result.size() || a.slot == 0 || a.slot > assignments) refuse("there is no such lag or slot");
      first_[a.lag] = std::max(first_[a.lag], a.slot + 1);
    }
  std::exclusive_scan(first_.begin(), first_.end(), first_.begin(), value_t{0});
  made_.assign(first_.back(), nullptr);
  written_.assign(first_.back(), never);
  for (element lag = 0; lag < of.result.size(); ++lag)
    if (lag == 0 || !inputs_at_home_alone) written_[first_[lag]] = input;
  for (std::uint32_t i = 0; i < of.steps.size(); ++i)
    for (symmetric_assignment const& a : of.steps[i]) assign(a, i);
}

value_t block_values::at(element lag, slot_t slot) const {
  if (slot >= first_[lag + 1] - first_[lag]) refuse("a value is never written");
  return first_[lag] + slot;
}

void block_values::assign(symmetric_assignment const& a, std::uint32_t step) {
  if (a.count == 0) refuse("a value has no sources");
  for (std::uint32_t s = a.first; s < a.first + a.count; ++s) {
    auto const& [displacement, slot] = of_.sources[s];
    value_t const read = from_[s] = at(of_.whole ? 0 : of_.ranks.add(a.lag, displacement), slot);
    bool const is_written = written_[read] != never && (displacement == 0 || written_[read] != step);
    if (!is_written) refuse("a value is read before it is written");
  }
  value_t const v = first_[a.lag] + a.slot;
  if (std::exchange(written_[v], step) != never) refuse("a value is written twice");
  made_[v] = &a;
}

}  // namespace coset::schedule
