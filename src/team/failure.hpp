// SPDX-License-Identifier: Apache-2.0
// One rank's misfortune becomes every rank's error.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>

#include "coset/error.hpp"

namespace coset::team_room {

enum class cause : std::uint8_t { aborted, mismatch, argument, timed_out };

/// The first failure of a generation; later ones are dropped.
class failure {
 public:
  /// Sequentially consistent with the busy marks: either a rank sees this before it touches a peer's memory, or whoever
  /// leaves sees that rank busy.
  void record(cause, std::string reason, std::exception_ptr original = nullptr) noexcept;
  bool recorded() const noexcept { return flag_.load(std::memory_order_relaxed); }
  bool recorded_in_order() const noexcept { return flag_.load(std::memory_order_seq_cst); }

  /// Throws the error that the cause stands for. Only after recorded().
  [[noreturn]] void raise() const;
  /// The exception that started it, if one did: run() rethrows it.
  std::exception_ptr original() const;
  /// Between generations only.
  void clear() noexcept;

 private:
  std::atomic<bool> flag_ = false;
  mutable std::mutex writing_;
  cause cause_ = cause::aborted;
  std::string reason_;
  std::exception_ptr original_;
};

}  // namespace coset::team_room
