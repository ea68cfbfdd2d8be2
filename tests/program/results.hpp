// SPDX-License-Identifier: Apache-2.0
// What a schedule makes of symbolic inputs, step by step as it stands: the reference for its programs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "memory.hpp"
#include "planning/schedule/core/schedule.hpp"

namespace coset::program::testing {

/// Neither commutative nor associative: another order or another bracketing of a fold is another content.
inline content folded(content a, content b) {
  content const x = (a * 0x9E3779B97F4A7C15u ^ b) * 0xC2B2AE3D27D4EB4Fu;
  return x ^ x >> 31;
}

/// What a partial result becomes as an element, where those are narrower.
inline content rounded(content partial) { return folded(partial, 0x5EED); }

/// What a caller's input holds.
inline content input_of(std::uint32_t operation, rank_t rank, schedule::block_t block) {
  return folded(folded(operation, rank + 1), block + 1) | 1;
}

/// [rank][block]: what the ranks must end with; 0 where they end with nothing. Where partial results are wider than
/// elements, what was folded is rounded once, in the end.
inline std::vector<std::vector<content>> results_of(schedule::schedule const& s, std::uint32_t operation, bool widens) {
  std::size_t const blocks = s.blocks.size();
  std::unordered_set<content> folds;
  std::vector<std::vector<content>> slots(s.ranks * blocks);  // [rank · blocks + block][slot]
  for (rank_t r = 0; r < s.ranks; ++r) {
    for (schedule::block_t b = 0; b < blocks; ++b) slots[r * blocks + b].push_back(input_of(operation, r, b));
  }
  for (auto const& step : s.steps) {
    for (schedule::assignment const& a : step) {
      content value = 0;
      for (schedule::source const& from : s.from(a)) {
        content const next = slots[from.rank * blocks + a.block].at(from.slot);
        value = &from == s.from(a).data() ? next : folded(value, next);
      }
      if (s.from(a).size() > 1) folds.insert(value);
      auto& mine = slots[a.rank * blocks + a.block];
      mine.resize(std::max<std::size_t>(mine.size(), a.slot + 1));
      mine[a.slot] = value;
    }
  }
  std::vector<std::vector<content>> results(s.ranks, std::vector<content>(blocks, 0));
  for (rank_t r = 0; r < s.ranks; ++r) {
    for (schedule::block_t b = 0; b < blocks; ++b) {
      if (s.result[r][b] == schedule::no_slot) continue;
      content const value = slots[r * blocks + b].at(s.result[r][b]);
      results[r][b] = widens && folds.contains(value) ? rounded(value) : value;
    }
  }
  return results;
}

}  // namespace coset::program::testing
