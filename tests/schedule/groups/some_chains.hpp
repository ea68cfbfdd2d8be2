// SPDX-License-Identifier: Apache-2.0
// Chains for tests: random shifts that reach all elements of a group.
#pragma once

#include <set>

#include "planning/schedule/groups/covering.hpp"
#include "schedule/groups/some_groups.hpp"

namespace coset::schedule::testing {

/// The sums of some of the shifts, the last one first, with at most one of each step.
inline std::set<element> sums_of(group const& g, shift_list const& steps) {
  std::set<element> sums{0};
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    auto const later = sums;
    for (element const s : *step)
      for (element const e : later) sums.insert(g.add(e, s));
  }
  return sums;
}

/// Until they reach all: what is added last comes first.
inline shift_list covering_shifts(group const& g, generator& random) {
  shift_list steps;
  for (auto known = sums_of(g, steps).size(); known < g.order();) {
    steps.insert(steps.begin(), {1 + below(random, g.order() - 1)});
    auto const now = sums_of(g, steps).size();
    if (now == known) steps.erase(steps.begin());
    known = now;
  }
  return steps;
}

}  // namespace coset::schedule::testing
