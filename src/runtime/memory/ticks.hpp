// SPDX-License-Identifier: Apache-2.0
// A clock that all processors share and that takes a few nanoseconds to read. Of no known rate: for ratios.
#pragma once

#if defined(__x86_64__)
#include <sys/prctl.h>
#endif

#include <chrono>
#include <cstdint>

namespace coset::runtime {

#if defined(__x86_64__)
inline std::uint64_t ticks() noexcept { return __builtin_ia32_rdtsc(); }
/// False where the kernel kills threads that read the counter, as under seccomp's strict mode or by prctl(2).
inline bool ticks_are_allowed() noexcept {
  int mode = PR_TSC_ENABLE;
  return prctl(PR_GET_TSC, &mode) != 0 || mode == PR_TSC_ENABLE;
}
#elif defined(__aarch64__)
inline std::uint64_t ticks() noexcept {
  std::uint64_t count;
  asm volatile("mrs %0, cntvct_el0" : "=r"(count));
  return count;
}
inline bool ticks_are_allowed() noexcept { return true; }
#else
inline std::uint64_t ticks() noexcept {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}
inline bool ticks_are_allowed() noexcept { return true; }
#endif

}  // namespace coset::runtime
