// SPDX-License-Identifier: Apache-2.0
// Waits of operations: one look where it succeeds, and all that a rank does meanwhile where it does not.
#pragma once

#include <cstdint>

#include "runtime/failure/argument_check.hpp"
#include "runtime/memory/perturb.hpp"
#include "runtime/rank_state.hpp"

namespace coset::runtime {

inline bool before(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) < 0; }
inline std::uint32_t epoch_of(std::uint64_t tag) { return static_cast<std::uint32_t>(tag >> 32); }

/// The epoch into which the reader's entry shows that it has read what is written again in this epoch.
inline std::uint32_t entry_after_reading(program::reader const& r, std::uint32_t epoch) noexcept {
  return epoch - (r.tells_when_done ? 2 : 1);
}

/// Who may still use lines or staging that a rank writes in its next operation, unless the one before was full: those who read them
/// two operations ago. Where pairs exchange staging a rank writes another's, and asks everybody to have left that operation.
class users_of_lines {
 public:
  users_of_lines(channel_end const& end, std::uint32_t epoch, program::layout const& next, rank_t self, rank_t ranks)
      : listed_(next.exchanges ? nullptr : end.readers[epoch & 1]), self_(self), ranks_(ranks) {}

  std::size_t size() const { return listed_ != nullptr ? listed_->size() : ranks_ - 1; }
  program::reader operator[](std::size_t k) const {
    if (listed_ != nullptr) return (*listed_)[k];
    return {static_cast<rank_t>((self_ + 1 + k) % ranks_), false};
  }

 private:
  std::vector<program::reader> const* const listed_;
  rank_t const self_, ranks_;
};

/// What a rank waits for in another's word.
struct awaited {
  enum class kind : std::uint8_t {
    entry,  ///< this tag. The same epoch with another history is a disagreement, seen before any data are read. So is a later
            ///< epoch: a rank that has done what this one does writes no new entry before this one has seen the old.
    signal,  ///< of the same operation, this or a later one
    reuse    ///< any entry of this epoch or a later one
  };
  kind what;
  std::uint64_t wanted;  ///< tag, progress, or epoch << 32

  bool is_in(std::uint64_t seen) const noexcept {
    switch (what) {
      case kind::entry:
        return seen == wanted;
      case kind::signal:
        return seen >= wanted;
      case kind::reuse:
        return !before(epoch_of(seen), epoch_of(wanted));
    }
    __builtin_unreachable();
  }
  bool is_refused_by(std::uint64_t seen) const noexcept {
    return what == kind::entry && seen != wanted && !before(epoch_of(seen), epoch_of(wanted));
  }
  half part() const noexcept { return what == kind::signal ? half::low : half::high; }
};

/// Blocks until it is there. Throws what the team failed with, or fails it where it never will be. The flight is a copy:
/// whoever calls this rarely has its own in registers.
void await_blocking(detail::rank_state&, flight, rank_t other, std::atomic<std::uint64_t> const& word, awaited);

/// A look without waiting was in vain. Throws likewise.
void look_in_vain(detail::rank_state&, flight&, rank_t other, std::atomic<std::uint64_t> const& word, awaited);

/// Whether b begins less than `bytes` before or behind a. One comparison: this is asked three times of every peer.
inline bool meet(std::byte const* a, std::byte const* b, std::size_t bytes) {
  auto const x = reinterpret_cast<std::uintptr_t>(a), y = reinterpret_cast<std::uintptr_t>(b);
  return x - y + (bytes - 1) < 2 * bytes - (bytes == 0 ? 0 : 1);
}

/// Whether a peer's arrays have to be compared with this rank's. Quick, and nearly always enough: whole vectors that do not
/// meet.
inline bool may_overlap(flight const& f, std::byte const* in, std::byte const* out) {
  std::size_t const bytes = f.plan->bytes;
  return f.plan->arrays.shares_outputs || meet(f.out, out, bytes) || meet(f.out, in, bytes) || meet(f.in, out, bytes);
}

/// Compares them, where ranks reach each other's arrays, as compare_arrays() does.
void compare_arrays_of(detail::rank_state&, flight, rank_t other, entry_line const&);

/// What leaves an operation ends it on all ranks. To be called while it is handled.
[[noreturn]] void leave_by_exception(detail::rank_state&, flight);

/// Tells that this rank has entered an operation, and where its arrays are; or how far it has come.
[[gnu::always_inline]] inline void tell_entry(detail::rank_state const& me, entry_line& entry, std::byte const* in,
                                              std::byte* out, std::uint64_t tag) {
  perturb();
  // Not before a payload in the second line: as long as that is on its way here, a peer would take the first one back.
  entry.in = in;
  entry.out = out;
  signal(entry.tag, tag, me.lines.sleepers, half::high, me.shared.kind.plain_signals);
}
[[gnu::always_inline]] inline void tell_progress(detail::rank_state const& me, progress_line& progress,
                                                 std::uint64_t reached) {
  perturb();
  signal(progress.signalled, reached, me.lines.sleepers, half::low, me.shared.kind.plain_signals);
}

/// Operations may throw, and may not call collectives.
class folding_mark {
 public:
  explicit folding_mark(detail::rank_state& root) : root_(root) { root_.requests.process = 0; }
  ~folding_mark() { root_.requests.process = root_.shared.process(); }
  folding_mark(folding_mark const&) = delete;
  folding_mark& operator=(folding_mark const&) = delete;

 private:
  detail::rank_state& root_;
};

}  // namespace coset::runtime
