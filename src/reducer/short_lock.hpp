// SPDX-License-Identifier: Apache-2.0
// Locks that are held for less time than a thread takes to fall asleep and wake up again.
#pragma once

#include <mutex>

#include "runtime/memory/waiting.hpp"

namespace coset::reducer_room {

/// Threads of a region come for their copies at the same time. Whoever is second would sleep, and be woken 10 µs later
/// for what takes one.
inline std::unique_lock<std::mutex> short_lock(std::mutex& mutex) {
  for (std::uint32_t looks = runtime::looks_in(std::chrono::microseconds(10)); looks > 0; --looks) {
    if (std::unique_lock lock(mutex, std::try_to_lock); lock) return lock;
    runtime::pause();
  }
  return std::unique_lock(mutex);
}

}  // namespace coset::reducer_room
