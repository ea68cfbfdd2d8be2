// SPDX-License-Identifier: Apache-2.0
// A clock cheap enough to time a 150 ns collective.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>

#include "numa/binding.hpp"

namespace coset::measure {

using numa::ticks;

/// At least 1, so that what is shorter than a tick, up to 40 ns on aarch64, has taken a time that others can be divided by.
inline std::uint64_t ticks_since(std::uint64_t begin) { return std::max<std::uint64_t>(ticks() - begin, 1); }

/// Measured once, against steady_clock over 20 ms.
inline double nanoseconds_per_tick() {
  static double const found = [] {
    auto const begin = std::chrono::steady_clock::now();
    auto const first = ticks();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    auto const last = ticks();
    std::chrono::duration<double, std::nano> const spent = std::chrono::steady_clock::now() - begin;
    return spent.count() / static_cast<double>(last - first);
  }();
  return found;
}

}  // namespace coset::measure
