// SPDX-License-Identifier: Apache-2.0
// The loop over time steps, and its clock.
#pragma once

#include <algorithm>

#include "bench/reducer/scatter.hpp"
#include "command/measure/machine/clock.hpp"

namespace coset::measure {

/// Plays `step()` as ordered, and looks at the clock if `clocked`: on one of the threads that play it together.
template <class Step>
std::vector<double> play_steps(burst_order const& order, bool clocked, Step step) {
  constexpr std::size_t most_samples = 64;
  std::vector<double> samples;
  for (std::size_t k = 0; k < order.warmup; ++k) step();
  std::size_t const groups = std::min(most_samples, order.iterations);
  for (std::size_t group = 0; group < groups; ++group) {
    std::size_t const steps = order.iterations * (group + 1) / groups - order.iterations * group / groups;
    auto const begin = ticks();
    for (std::size_t k = 0; k < steps; ++k) step();
    if (clocked)
      samples.push_back(static_cast<double>(ticks() - begin) * nanoseconds_per_tick() / static_cast<double>(steps));
  }
  return samples;
}

}  // namespace coset::measure
