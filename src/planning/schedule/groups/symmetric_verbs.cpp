// SPDX-License-Identifier: Apache-2.0
#include "planning/schedule/groups/symmetric_verbs.hpp"

#include <algorithm>
#include <utility>

namespace coset::schedule {
namespace {

/// Which values are needed, by lag and slot.
class needed_values {
 public:
  explicit needed_values(symmetric_schedule const& s) : of_(s.result.size()) {
    for (auto const& step : s.steps) {
      for (symmetric_assignment const& a : step)
        of_[a.lag].resize(std::max<std::size_t>(of_[a.lag].size(), a.slot + 1));
    }
    for (auto& slots : of_) slots.resize(std::max<std::size_t>(slots.size(), 1));
  }

  std::vector<char>::reference operator()(element lag, slot_t slot) { return of_[lag][slot]; }

 private:
  std::vector<std::vector<char>> of_;
};

void leave_out_empty_steps(symmetric_schedule& s) {
  std::erase_if(s.steps, [](auto const& step) { return step.empty(); });
}

}  // namespace

/// What is left out comes after what is kept, as copies are made of reduced blocks: so slots stay 1, 2, …
symmetric_schedule reduce_scatter_of(symmetric_schedule s) {
  needed_values needed(s);
  needed(0, s.result[0]) = true;
  std::fill(s.result.begin() + 1, s.result.end(), no_slot);
  for (std::size_t i = s.steps.size(); i-- > 0;) {
    auto& step = s.steps[i];
    std::vector<symmetric_assignment> kept;
    for (std::size_t k = step.size(); k-- > 0;) {
      symmetric_assignment const& a = step[k];
      if (!needed(a.lag, a.slot)) continue;
      kept.push_back(a);
      for (auto const& from : std::span(s.sources).subspan(a.first, a.count))
        needed(s.ranks.add(a.lag, from.displacement), from.slot) = true;
    }
    std::ranges::reverse(kept);
    step = std::move(kept);
  }
  leave_out_empty_steps(s);
  return s;
}

symmetric_schedule allgather_of(symmetric_schedule s) {
  enum class state : char { without, has_input, has_copy, copies_now };
  std::vector<state> states(s.result.size(), state::without);
  states[0] = state::has_input;
  std::vector<symmetric_source> sources;
  for (auto& step : s.steps) {
    std::vector<symmetric_assignment> copies;
    for (symmetric_assignment const& a : step) {
      if (states[a.lag] != state::without) continue;
      for (auto const& from : std::span(s.sources).subspan(a.first, a.count)) {
        state const holder = states[s.ranks.add(a.lag, from.displacement)];
        if (holder != state::has_input && holder != state::has_copy) continue;
        copies.push_back({a.lag, 1, static_cast<std::uint32_t>(sources.size()), 1});
        sources.push_back({from.displacement, holder == state::has_input ? slot_t{0} : slot_t{1}});
        states[a.lag] = state::copies_now;
        break;
      }
    }
    for (symmetric_assignment const& c : copies) states[c.lag] = state::has_copy;
    step = std::move(copies);
  }
  s.sources = std::move(sources);
  s.result.assign(s.result.size(), 1);
  s.result[0] = 0;
  leave_out_empty_steps(s);
  return s;
}

}  // namespace coset::schedule
