// SPDX-License-Identifier: Apache-2.0
// What the executor writes down where a trace is wanted; nothing of it is compiled into the loop of ranks that nobody watches.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "planning/program/program.hpp"
#include "runtime/flight.hpp"
#include "runtime/memory/lines.hpp"
#include "runtime/trace/journal.hpp"

namespace coset::inline COSET_ABI::detail {
struct rank_state;
}

namespace coset::runtime {

/// One rank's. Moments are numa::ticks().
struct recording {
  /// Of the operation on one channel.
  struct course {
    std::uint64_t operation = 0;  ///< number and history of the one under way
    std::uint64_t begin = 0, now = 0;
    std::uint64_t waits_since = 0;  ///< without blocking; 0: it does not wait
    bool waits = false;             ///< has looked at what it awaits, and seen it or not
    rank_t awaited = 0;
    std::uint32_t signal = 0;
  };

  trace::journal* of_thread;
  std::uint32_t team;
  std::vector<trace::level> levels;  ///< [rank of those that share memory]: what joins it to this one
  std::span<rank_t const>
      in_origin;  ///< [rank of the team]: its number in the team this one was split from; empty: the same
  std::array<course, channels> courses{};
};

/// Says whether the rank is watched. Where a trace is wanted: makes the rank's own, in its thread's journal.
void begin_recording(detail::rank_state&);
/// With the rank, when nothing of its thread is recorded any more.
void close_recording(detail::rank_state&) noexcept;

// Each does nothing unless a trace is wanted, and is told what has just ended, whose beginning is the end of what was recorded before.
void record_begin(detail::rank_state&, flight const&);  ///< or that it goes on
void record_end(detail::rank_state&, flight const&);
/// The operation ends by an exception, and with it the wait that it was in.
void record_failure(detail::rank_state&, flight const&) noexcept;
void record_fold(detail::rank_state&, flight const&, program::instruction const&);
void record_transfer(detail::rank_state&, flight const&, program::instruction const&);
void record_post(detail::rank_state&, flight const&, std::uint32_t signal);
/// What is going to be looked at; then that a blocking wait is over, that a look was in vain, and that it no longer is.
void record_awaited(detail::rank_state&, flight const&, rank_t other, std::uint32_t signal);
void record_wait(detail::rank_state&, flight const&);
void record_look_in_vain(detail::rank_state&, flight const&);
void record_end_of_looks(detail::rank_state&, flight const&);

}  // namespace coset::runtime
