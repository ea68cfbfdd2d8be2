// SPDX-License-Identifier: Apache-2.0
// How the threads of a sparse reducer reduce: each into blocks of an own copy, or by keeping updates for later.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "coset/detail/private_copy.hpp"
#include "reducer/owned_copy.hpp"

namespace coset::reducer_room {

/// Without a limit a thread has a copy as soon as its updates need so much of one.
inline constexpr std::size_t share_of_copy = 4;

/// What was found when copies were combined, of all threads together.
struct round_counts {
  std::size_t updates = 0;  ///< that were kept
  std::size_t blocks = 0;   ///< that copies have touched, or would have: in each copy
  std::size_t copies = 0;   ///< that had any of it
};

/// Counts alone decide, so that the same program chooses the same in every run: neither clocks nor chance.
class way_choice {
 public:
  way_choice() = default;
  /// Throws argument_error for a way that is none of these, or that is impossible.
  way_choice(detail::reduced_array const&, blocks const&, sparse_options const&);

  /// Whether threads ever keep updates. Parts of 2^shift elements, `parts` of them, then.
  bool may_keep() const noexcept { return parts_ > 0; }
  std::size_t parts() const noexcept { return parts_; }
  unsigned shift() const noexcept { return shift_; }

  /// In this round.
  bool keeps() const noexcept { return keeps_; }
  /// From the next round on there are copies only. From any thread.
  void want_copies() noexcept { wants_copies_.store(true, std::memory_order_relaxed); }

  /// By any thread that combines.
  void count(round_counts const&) noexcept;
  round_counts const& last_round() const noexcept { return last_; }
  /// All is combined: chooses the way of the next round; whether it is another one. By one thread.
  bool next() noexcept;
  /// Forgets what was counted of a round that was not combined.
  void forget() noexcept;

 private:
  bool prefers_copies(round_counts const&) const noexcept;

  blocks shape_;
  std::size_t record_bytes_ = 0;
  unsigned shift_ = 0;
  std::size_t parts_ = 0;
  bool keeps_ = false, is_fixed_ = false;
  std::size_t expected_ = 0;  ///< blocks: as many as in the first round with copies; 0: none so far
  round_counts last_;
  std::atomic<bool> wants_copies_ = false;
  std::atomic<std::size_t> updates_ = 0, blocks_ = 0, copies_ = 0;
};

}  // namespace coset::reducer_room
