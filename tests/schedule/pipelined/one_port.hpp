// SPDX-License-Identifier: Apache-2.0
// What one rank reads and gives in one step, in blocks.
#pragma once

#include <algorithm>
#include <vector>

#include "planning/schedule/core/schedule.hpp"

namespace coset::schedule::testing {

struct most_blocks {
  std::size_t read = 0, given = 0;
  friend bool operator==(most_blocks const&, most_blocks const&) = default;
};

/// The most of any rank in any step; each (reader, giver, block) counts.
inline most_blocks most_of_one_rank(schedule const& made) {
  most_blocks most;
  for (auto const& step : made.steps) {
    std::vector<std::size_t> read(made.ranks), given(made.ranks);
    for (assignment const& a : step)
      for (source const& s : made.from(a))
        if (s.rank != a.rank) ++read[a.rank], ++given[s.rank];
    most.read = std::max(most.read, *std::ranges::max_element(read));
    most.given = std::max(most.given, *std::ranges::max_element(given));
  }
  return most;
}

}  // namespace coset::schedule::testing
