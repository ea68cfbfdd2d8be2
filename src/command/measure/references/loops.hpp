// SPDX-License-Identifier: Apache-2.0
// Loops of updates, as reducers take them: one loop that all ranks share, beside the plain loop of one thread.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

namespace coset::measure {

struct update_loop {
  std::string_view name;
  std::size_t length, updates;  ///< elements of the target; iterations, each of which adds to one
  bool counts;                  ///< 1 in 4 bytes, else weights in 8
  std::size_t target_bytes() const { return length * (counts ? 4 : 8); }
};

/// A histogram, many updates of an array, and few of a long one; keys are random.
inline constexpr std::array update_loops{
    update_loop{"histogram", 4096, std::size_t{1} << 22, true},
    update_loop{"dense scatter", std::size_t{1} << 20, std::size_t{1} << 22, false},
    update_loop{"thin scatter", std::size_t{1} << 24, std::size_t{1} << 16, false}};

struct loop_times {
  std::vector<double> nanoseconds;  ///< [round]
  std::size_t wrong = 0;            ///< elements
};

/// coset::scatter_add() by a team with a rank on each processor; on one processor the plain loop.
loop_times play_loop(update_loop const&, std::vector<unsigned> const& processors, std::size_t rounds);

}  // namespace coset::measure
