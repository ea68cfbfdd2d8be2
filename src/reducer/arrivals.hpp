// SPDX-License-Identifier: Apache-2.0
// Who has come to the combination that is going on: the threads of a region wait in their runtime's barrier, which says
// nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "coset/detail/line_spacing.hpp"
#include "coset/detail/private_copy.hpp"
#include "numa/process/fork.hpp"
#include "runtime/failure/onlooker.hpp"

namespace coset::reducer_room {

class arrivals final : public runtime::overseen {
 public:
  explicit arrivals(detail::reducer_core const& of) : of_(of) {}
  ~arrivals() {
    if (overseen_in_ == numa::process_number()) oversee_no_more(*this);
  }
  arrivals(arrivals const&) = delete;
  arrivals& operator=(arrivals const&) = delete;

  /// See detail::arrive() and detail::require_complete().
  detail::arrival add(std::uint32_t threads, detail::arriving how);
  void require_complete(std::uint64_t round);
  void require_none() const;
  /// Of a thread that has come and waits: whether all have, and that it does not wait any longer unless they have.
  bool is_complete(std::uint64_t round) const noexcept;
  bool give_up(std::uint64_t round) noexcept;
  /// Forgets who has come.
  void begin_anew() noexcept;

  /// Whether only some have come; for when no thread combines.
  bool are_incomplete() const noexcept;
  /// "1 of 2 threads has called combine(nowait) on a reducer of 10 double, coset::plus".
  std::string in_words() const;

  std::uint64_t wait() const noexcept override;
  std::string wait_in_words(std::chrono::nanoseconds waited) const override;

 private:
  std::string in_words(std::uint64_t word) const;
  [[noreturn]] void fail(std::uint64_t word, char const* what_then) const;

  detail::reducer_core const& of_;
  std::uint32_t overseen_in_ = 0;           ///< the number of the process; by the first thread of a round that waits
  std::atomic<std::uint32_t> threads_ = 0;  ///< of the region of the first that came; seldom changes
  /// Four counts: of threads that have come, of those among them that called combine(nowait), of those that were the
  /// first of their region and went on, of rounds; and whether threads were missed. Here every thread of a region writes.
  /// Alone on its line without being aligned to one: memory so aligned takes malloc longer than all else that makes a reducer.
  struct {
    std::byte before[detail::line_spacing];
    std::atomic<std::uint64_t> word = 0;
    std::byte behind[detail::line_spacing - sizeof word];
  } apart_;
};

}  // namespace coset::reducer_room
