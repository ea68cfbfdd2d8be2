// SPDX-License-Identifier: Apache-2.0
// Locks that are held for less time than a thread takes to fall asleep and wake up again.
#pragma once

#include <mutex>

#include "numa/process/fork.hpp"
#include "runtime/memory/waiting.hpp"

namespace coset::reducer_room {

/// Threads of a region ask for their copies at the same time. The second would sleep, and wake up 10 µs later, for a
/// lock that is held for 1 µs.
inline std::unique_lock<numa::fork_safe_mutex> short_lock(numa::fork_safe_mutex& mutex) {
  for (std::uint32_t looks = runtime::looks_in(std::chrono::microseconds(10)); looks > 0; --looks) {
    if (std::unique_lock lock(mutex, std::try_to_lock); lock) return lock;
    runtime::pause();
  }
  return std::unique_lock(mutex);
}

}  // namespace coset::reducer_room
