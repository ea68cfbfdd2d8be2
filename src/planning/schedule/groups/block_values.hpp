// SPDX-License-Identifier: Apache-2.0
// One block of a symmetric schedule: its values on all ranks, and what each is made of.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "planning/schedule/groups/symmetric.hpp"

namespace coset::schedule {

/// A value of the block, by lag and slot. Of a whole vector all lags are alike, and lag 0 stands for them.
using value_t = std::uint32_t;

/// The block is at home on the rank of the neutral element, so that lags and ranks are the same; the group's translations
/// turn it into every other.
class block_values {
 public:
  /// Throws schedule_error for a value that is written twice or read before it is written, and for what is none.
  block_values(symmetric_schedule const&, bool inputs_at_home_alone);

  std::size_t size() const { return made_.size(); }
  bool exists(value_t v) const { return written_[v] != never; }
  /// Throws schedule_error if the slot is never written on this lag.
  value_t at(element lag, slot_t) const;
  /// Of an input.
  element lag(value_t v) const { return static_cast<element>(std::ranges::lower_bound(first_, v) - first_.begin()); }
  /// Null for an input.
  symmetric_assignment const* made(value_t v) const { return made_[v]; }
  value_t source(std::uint32_t s) const { return from_[s]; }

 private:
  static constexpr std::uint32_t never = UINT32_MAX, input = never - 1;

  void assign(symmetric_assignment const&, std::uint32_t step);

  symmetric_schedule const& of_;
  std::vector<value_t> first_;                     // by lag, and the end
  std::vector<symmetric_assignment const*> made_;  // by value
  std::vector<std::uint32_t> written_;             // by value: the step
  std::vector<value_t> from_;                      // by source
};

}  // namespace coset::schedule
