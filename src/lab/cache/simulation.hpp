// SPDX-License-Identifier: Apache-2.0
// Executes the scripts of all ranks in virtual time.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "lab/cache/machine.hpp"
#include "lab/cache/script.hpp"

namespace coset::cache {

/// What is timed. As `coset bench` does: the call alone, after all have met, arrays being where their callers have left
/// them; or the period of rewriting the input, calling, and reading the result, nobody waiting for more than the call
/// does, once ranks get no further ahead of one another.
enum class timing : std::uint8_t { call, cycle };

struct simulated {
  double last = 0;  ///< seconds until the last rank is back; of cycles the period
  double mean = 0;  ///< the same averaged over ranks
  // Of one operation of all ranks:
  std::uint64_t acts = 0;                     ///< executed
  std::uint64_t events = 0;                   ///< simulated
  std::array<std::uint64_t, levels> lines{};  ///< that cores got from others, by what joins them
  std::uint64_t memory_lines = 0;             ///< from and to memory
};

/// Deterministic: of events at one time the one that was caused first comes first. Throws schedule_error if ranks wait for
/// ever. Cost: O(log ranks) for each event, and the number of links for each cell that an act touches; 32 bytes for each
/// cell, and some hundred more while several ranks hold it.
simulated simulate(machine const&, work const&, timing);

}  // namespace coset::cache
