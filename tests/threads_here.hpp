// SPDX-License-Identifier: Apache-2.0
// How many threads this process has.
#pragma once

#include <chrono>
#include <filesystem>
#include <iterator>
#include <thread>

namespace coset::test {

inline std::ptrdiff_t threads_of_this_process() {
  std::filesystem::directory_iterator const tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

/// Whether it comes to have so many: the system lists a thread for a moment after it has been joined.
inline bool threads_become(std::ptrdiff_t wanted) {
  auto const deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (threads_of_this_process() != wanted) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace coset::test
