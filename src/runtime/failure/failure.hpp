// SPDX-License-Identifier: Apache-2.0
// One rank's failure becomes every rank's error.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "coset/error.hpp"
#include "runtime/memory/lines.hpp"

namespace coset::runtime {

enum class cause : std::uint32_t { aborted, mismatch, argument, timed_out, messages, memory };

/// For messages about it.
char const* what_of(std::exception_ptr const& thrown) noexcept;  ///< as long as `thrown` lives

/// What is said of a failure by code that may not throw: made without the heap, where there may be nothing left.
class words {
 public:
  [[gnu::format(printf, 2, 3)]] explicit words(char const* form, ...) noexcept;
  operator std::string_view() const noexcept { return text_.data(); }

 private:
  std::array<char, sizeof(failure_record::reason)> text_;
};

/// The first failure of a generation; later ones are dropped.
class failure {
 public:
  /// The record lies in memory that was zeroed when it was made: no failure yet.
  explicit failure(failure_record& record) noexcept : record_(record) {}

  /// Takes what fits of the reason. Its order with busy marks is that of recorded_in_order().
  void record(cause, std::string_view reason, std::exception_ptr original = nullptr) noexcept;
  bool recorded() const noexcept { return record_.state.load(std::memory_order_relaxed) != 0; }
  /// Sequentially consistent, as busy marks are: either a rank sees the failure before it touches a peer's memory, or
  /// whoever asks this and leaves sees that rank busy.
  bool recorded_in_order() const noexcept { return record_.state.load(std::memory_order_seq_cst) != 0; }

  /// Throws the error that the cause stands for. Only after recorded().
  [[noreturn]] void raise() const;
  /// The cause and its words. Only after recorded().
  std::pair<cause, char const*> first() const noexcept;
  /// The exception that started it, if one of this process did: run() rethrows it.
  std::exception_ptr original() const;
  /// Between generations only: what all see of it, by one of the processes that share it.
  void clear() noexcept;
  /// Between generations only: what each process keeps of it for itself.
  void forget_original() noexcept;

 private:
  failure_record& record_;
  mutable std::mutex writing_;  ///< guards original_
  std::exception_ptr original_;
};

}  // namespace coset::runtime
