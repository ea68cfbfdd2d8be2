// SPDX-License-Identifier: Apache-2.0
// The cache lines through which ranks meet. The layout is part of the algorithm.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "coset/detail/line_spacing.hpp"
#include "planning/plan/signature.hpp"
#include "planning/program/program.hpp"

namespace coset::runtime {

using detail::line_spacing;
using planning::described_signature;
using planning::following;
using planning::signature;
using program::entry_payload_bytes;
using program::line_bytes;
using program::second_line_bytes;

/// Blocking calls use channel 0, split-phase operations rotate over the others.
inline constexpr std::uint32_t split_channels = 8;
inline constexpr std::uint32_t channels = 1 + split_channels;

/// A rank's entry into an operation, one line of each parity. Written by its rank alone: payload and the caller's
/// pointers first, then the tag with release; peers read them after an acquire load of the tag has met theirs.
/// A payload of up to 40 bytes lies in the tag's own line, so that one transfer brings all; up to 64 in the next.
struct alignas(line_spacing) entry_line {
  std::array<std::byte, entry_payload_bytes> payload;
  void const* in;
  void* out;
  std::atomic<std::uint64_t> tag;  ///< epoch << 32 | history of operations, see own_line; compared by equality
  std::array<std::byte, second_line_bytes> second;
};
static_assert(sizeof(entry_line) == line_spacing && offsetof(entry_line, tag) == line_bytes - sizeof(std::uint64_t));
static_assert(offsetof(entry_line, second) == line_bytes);

/// How far a rank is: the base of its operation plus the number of its latest signal. Monotonic, never reset. Behind it, how far a
/// fold is that ranks share, see shared_fold.hpp: nobody awaits it but in its last moments.
struct alignas(line_spacing) progress_line {
  std::atomic<std::uint64_t> signalled;
  std::atomic<std::uint64_t> taken;   ///< epoch << 32 | pieces that somebody has begun
  std::atomic<std::uint64_t> helped;  ///< pieces that other ranks have folded
};

/// Results of allreduce_view that are the rank's own. In the arena, because they may be read for as long as the team lives.
struct alignas(line_spacing) small_view {
  std::array<std::byte, 1024> bytes;
};

struct channel_lines {
  std::array<entry_line, 2> entry;
  progress_line progress;
};
static_assert(sizeof(channel_lines) == 3 * line_spacing);

/// Written by others now and then: how many sleep until this rank signals. Read by the rank at each signal.
/// `left` is the last generation that the rank has left; generations begin at 1.
struct alignas(line_spacing) attention_line {
  std::atomic<std::uint32_t> sleepers;
  std::atomic<std::uint32_t> left;
};

/// The first failure of a generation, in the arena so that ranks of other processes read it too.
struct alignas(line_spacing) failure_record {
  std::atomic<std::uint32_t> state;  ///< 0: none, 1: being written, 2: written
  std::uint32_t cause;
  std::array<char, 4 * line_spacing - 3 * sizeof(std::uint32_t)> reason;
  std::atomic<std::uint32_t>
      stuck_told;  ///< not 0: some rank of the team has told that it is stuck, see long_waits.hpp
};

/// Each rank numbers the operations that it begins in a team, over all channels, and tells the latest of them: so many
/// by number and history, so many in words. Powers of two, as numbers wrap around.
inline constexpr std::uint32_t told_operations = 32;
inline constexpr std::uint32_t described_operations = 8;

/// What a rank tells of itself once it has waited for long. Relaxed, as described_signature: whoever reads it while the
/// rank goes on words it worse. Nothing of it is written before a wait is long.
struct told_wait {
  enum class cause : std::uint32_t { entry, signal, reuse, message, sending, offload };
  static constexpr std::uint32_t nobody = UINT32_MAX;

  std::atomic<std::uint64_t> since;   ///< ns of the steady clock, which processes of a host share; 0: it does not wait
  described_signature in;             ///< the operation
  std::atomic<std::uint32_t> among;   ///< ranks of the team in which it waits · 2, and 1 if these lines are another's
  std::atomic<std::uint32_t> number;  ///< of the operation
  std::atomic<cause> of;
  std::atomic<std::uint32_t> awaited;               ///< whose word or message, as callers count; or nobody
  std::atomic<std::uint32_t> step, steps;           ///< of the schedule, from 1; 0: before the first
  std::array<std::atomic<std::uint64_t>, 16> plan;  ///< the schedule and its storage in words, as much as fits
};

/// Written by its rank, read by others only when something has gone wrong or takes long, and when reducers are combined.
struct alignas(line_spacing) own_line {
  std::atomic<std::uint32_t> busy;      ///< inside an instruction that touches a peer's caller memory
  std::atomic<std::uint32_t> waits_on;  ///< one more than the processor on which it waits for long; 0: it does not
  std::atomic<std::uint64_t> standing;  ///< of a root, these three: see standstill.hpp
  std::atomic<std::uint64_t> moves;
  told_wait wait;  ///< in this team, and of a root or origin in the thread's other teams, too
  /// [number % told_operations]: number << 32 | history. The history is a hash of all operations of this generation up
  /// to that one, in their order and with their channels.
  std::array<std::atomic<std::uint64_t>, told_operations> begun;
  std::array<described_signature, described_operations> doing;  ///< [number % described_operations]
  std::atomic<std::uint64_t> combines;  ///< in this team, the reducer that comes: see meet_with()
};

}  // namespace coset::runtime
