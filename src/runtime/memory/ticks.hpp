// SPDX-License-Identifier: Apache-2.0
// A clock that all processors share and that takes a few nanoseconds to read. Of no known rate: for ratios.
#pragma once

#include <chrono>
#include <cstdint>

namespace coset::runtime {

#if defined(__x86_64__)
inline std::uint64_t ticks() noexcept { return __builtin_ia32_rdtsc(); }
#elif defined(__aarch64__)
inline std::uint64_t ticks() noexcept {
  std::uint64_t count;
  asm volatile("mrs %0, cntvct_el0" : "=r"(count));
  return count;
}
#else
inline std::uint64_t ticks() noexcept {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}
#endif

}  // namespace coset::runtime
