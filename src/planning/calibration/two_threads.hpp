// SPDX-License-Identifier: Apache-2.0
// Two threads that take turns on two processors: the basis of all measurements of a pair of processors.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <system_error>
#include <thread>

#include "coset/detail/line_spacing.hpp"
#include "numa/binding.hpp"

namespace coset::calibration {

/// The line that the threads pass to each other. Each gives up by itself at the deadline.
class turns {
 public:
  using clock = std::chrono::steady_clock;

  explicit turns(clock::time_point deadline) : deadline_(deadline) {}

  void pass(std::uint64_t turn) noexcept { turn_.store(turn, std::memory_order_release); }

  /// Partner: pass() of the other thread. False at the deadline.
  bool come_to(std::uint64_t turn) {
    for (int looks = 1; turn_.load(std::memory_order_acquire) != turn; ++looks) {
      if (looks % 1000 != 0) continue;
      if (clock::now() > deadline_) return false;
      std::this_thread::yield();
    }
    return true;
  }

 private:
  clock::time_point const deadline_;
  alignas(detail::line_spacing) std::atomic<std::uint64_t> turn_ = 0;
};

/// False if the kernel refuses, or if there is no memory: an exception must not leave the thread.
inline bool pin_to(unsigned processor) {
  try {
    numa::bind_this_thread(processor);
    return true;
  } catch (std::exception const&) {
    return false;
  }
}

/// Runs `here` on the processor `one` while a thread runs `there` on `other`; returns what `here` finds, and restores
/// the caller's mask. Empty if a thread cannot be made or pinned: making the team will report it.
template <class Here, class There>
std::optional<double> found_by_two_threads(unsigned one, unsigned other, Here here, There there) {
  numa::saved_mask const mask;
  try {
    std::jthread const answering([&] {
      if (pin_to(other)) there();
    });
    return pin_to(one) ? here() : std::nullopt;
  } catch (std::system_error const&) {
    return std::nullopt;
  }
}

}  // namespace coset::calibration
