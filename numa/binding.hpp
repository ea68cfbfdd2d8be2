// SPDX-License-Identifier: Apache-2.0
// Where threads run: pinning, masks and quotas. Part of the only room that knows hwloc.
#pragma once

#if defined(__x86_64__)
#include <sys/prctl.h>
#endif

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "numa/mask.hpp"

namespace coset::numa {

/// A thread's processor mask as it was, to be put back. Movable; empty after a move.
class saved_mask {
 public:
  saved_mask();   ///< of the calling thread
  ~saved_mask();  ///< restores
  saved_mask(saved_mask&&) noexcept;
  saved_mask& operator=(saved_mask&&) noexcept;
  void restore() noexcept;  ///< once, and only on the thread that it was taken from; does nothing elsewhere

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// False if COSET_BIND=no: then nothing is ever pinned.
bool binding_wanted();

/// Pins the calling thread to one processor; does nothing unless binding_wanted(). The index is one of a topology of
/// this system: callers check topology::this_system. Throws topology_error with the index if the system refuses.
void bind_this_thread(unsigned os_index);

/// Whether bind_this_thread() has pinned the calling thread, and no saved_mask has restored its mask since.
bool is_bound() noexcept;

/// The processor that the calling thread runs on right now; empty if the system does not report it. Some ns.
std::optional<unsigned> processor_of_this_thread() noexcept;
/// The same; throws topology_error if it is unknown.
unsigned current_processor();

/// The node that the calling thread runs on right now, as the system numbers it; empty if it is unknown. Some ns.
std::optional<unsigned> current_node() noexcept;

/// ticks() is a clock that all processors share and that takes a few ns to read: a third of steady_clock. Of no known rate.
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

/// The processors that any thread of this process may use: the calling one may be pinned already, as a rank or by another
/// threading library. Cost: a system call for each thread.
mask processors_of_all_threads();

/// Cores' worth of time that this process may use: min(processors in the masks of its threads, ceil(cgroup quota)),
/// at least 1. Some microseconds and file reads: ask once per team.
unsigned usable_processors();

}  // namespace coset::numa
