// SPDX-License-Identifier: Apache-2.0
// The private state of one rank.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "coset/detail/collective.hpp"
#include "planning/plan/rank_plans.hpp"
#include "runtime/flight.hpp"
#include "runtime/memory/lines.hpp"
#include "runtime/memory/shared_memory.hpp"
#include "runtime/rank_handle.hpp"
#include "runtime/recording.hpp"
#include "runtime/repeated/resolved.hpp"
#include "runtime/transport/messages.hpp"

namespace coset::runtime {

/// In the first operation of each parity ranks touch their own staging, which the system then places near them.
inline constexpr std::uint8_t not_exchanged_next = 0b11;

/// How far a channel has come. Where ranks that were interrupted go on together, the furthest counts.
struct channel_position {
  std::uint32_t epoch = 0;  ///< wraps around
  std::uint64_t base = 0;
  std::size_t capacity = 0;
  std::uint8_t exchanged = not_exchanged_next;  ///< bit by parity, see channel_end
};

/// The epochs that meet have advanced from a common one by less than half of what they count, or are those of channels that
/// were never used: so `further` orders them, wherever they wrap around, and any number of positions has one furthest in
/// whatever order they are compared.
inline channel_position further(channel_position const& a, channel_position const& b) {
  auto const is_unused = [](channel_position const& p) { return p.epoch == 0 && p.base == 0; };
  bool const b_is_later = is_unused(a) || (!is_unused(b) && static_cast<std::int32_t>(b.epoch - a.epoch) > 0);
  channel_position const& later = b_is_later ? b : a;
  auto const exchanged = a.epoch == b.epoch ? std::max(a.exchanged, b.exchanged) : later.exchanged;
  return {later.epoch, std::max(a.base, b.base), std::max(a.capacity, b.capacity), exchanged};
}

/// One rank's end of a channel. Epoch, base and capacity follow the same rule on every rank, so that they agree
/// without being exchanged.
struct channel_end {
  std::uint32_t epoch = 0;                      ///< of the latest operation
  std::uint64_t base = 0;                       ///< of the next operation's signals
  std::size_t capacity = 0;                     ///< of the staging in use
  std::uint8_t exchanged = not_exchanged_next;  ///< bit by parity, see is_exchanged()
  bool peers_entered = true;                    ///< the latest operation was full: its predecessor's lines are free
  std::array<std::vector<program::reader> const*, 2> readers{};  ///< by parity: who read this rank's lines last
  std::vector<channel_lines*> lines;                             ///< [rank]; empty until the channel is opened
  std::vector<std::byte*> bases;                                 ///< [row · ranks + rank], see program::row
  std::unique_ptr<endpoint> messages;                            ///< opened by the first program that has messages

  channel_position position() const { return {epoch, base, capacity, exchanged}; }

  /// Whether the latest operation of this epoch's parity that may exchange staging has it exchanged: every other one of them has,
  /// on every rank alike, since all have the same operations.
  bool is_exchanged(std::uint32_t of) const { return (exchanged >> (of & 1) & 1) != 0; }
  void exchange(std::uint32_t now) { exchanged = static_cast<std::uint8_t>(exchanged ^ 1U << (now & 1)); }
};

/// What a thread that has waited for long knows of that, see long_waits.hpp and standstill.hpp.
struct watch {
  std::uint64_t since = 0;       ///< ns of the steady clock; 0: it does not wait, or not for long
  std::uint64_t seen = 0;        ///< the question that was there before its latest look in vain; 0: it moves
  std::uint64_t raised = 0;      ///< the question that this thread has replaced by the next one; 0: none
  std::uint64_t moves_then = 0;  ///< of all ranks
};

/// Where a rank runs.
struct whereabouts {
  std::thread::id thread;  ///< debug builds assert it
  unsigned node = member::unknown_node;
  unsigned memory_node = anywhere;  ///< where this rank's memory belongs, as the system numbers it
  /// [rank]: those with which it shares memory, of this process alone. Null until the team has it.
  std::vector<std::unique_ptr<detail::rank_state>> const* beside = nullptr;
};

/// What a rank writes for others to read beside its channels, and what they tell it.
struct rank_lines {
  own_line& own;                               ///< of the root: a thread is busy, whichever of its teams it works for
  own_line& told;                              ///< of this team: what this rank is doing
  std::atomic<std::uint32_t> const& sleepers;  ///< that wait for this rank's signals
};

/// Of rows in which several arrays travel as one.
struct alignas(64) packed_line {
  std::array<std::byte, 64> bytes;
};

/// What a rank tells another of the piece that it has for it.
struct piece_notice {
  std::uintptr_t at;  ///< means something to ranks of one process only
  std::uint64_t count;
  std::uint64_t type;
};

/// Ranks whose messages one proxy carries: from the first on, every so many.
struct proxy_share {
  rank_t proxy, first, step, end;  ///< `end`: of its process
};

/// Of pieces of any length, and of what goes in segments. Grows with the number of ranks alone.
struct exchange_memory {
  std::vector<piece_notice> told, heard;          ///< [rank]
  std::vector<std::size_t> sent_at, received_at;  ///< [rank]: where its piece begins, in bytes; the last ends there
  std::byte *in = nullptr, *out = nullptr;        ///< for this rank's proxy, which sends and receives for it
  std::vector<std::size_t> counts;                ///< [rank]: of a segment
  std::vector<proxy_share> shares;                ///< of all proxies, in the order of their ranks
  std::unique_ptr<detail::bound_plan> fetching;   ///< by which this rank takes its pieces from others' arrays
  std::vector<packed_line> packed;                ///< a segment, or messages
  std::byte* room_for(std::size_t bytes) {
    packed.resize(std::max(packed.size(), bytes / sizeof(packed_line) + 1));
    return packed.data()->bytes.data();
  }
};

/// A call of which a rank's operations are parts.
struct whole_call {
  verb what;
  std::size_t bytes;
};

/// In the arena, for as long as the team lives.
struct result_view {
  std::byte* at = nullptr;
  std::size_t capacity = 0;
};

/// Grows and is used again.
struct rank_memory {
  std::vector<void*> operands;  ///< scratch: as many as some program of this rank has had at once
  std::vector<piece> pieces;
  std::vector<packed_line> packed;
  std::vector<std::size_t> lengths, lengths_received;  ///< of a C call's pieces, in elements
  /// Where allreduce_view leaves what the ranks of a node share, and longer results of a rank.
  result_view shared_view, own_view;
  std::unique_ptr<recording> recorded;         ///< null unless a trace is wanted
  bool watched = false;                        ///< by a trace, or by a sanitizer that is told
  std::unique_ptr<exchange_memory> exchanged;  ///< made by the first call that needs it
  resolved_programs resolved;                  ///< of calls that repeat

  whole_call const* part_of = nullptr;  ///< null: operations are calls themselves

  exchange_memory& of_exchange() {
    if (!exchanged) exchanged = std::make_unique<exchange_memory>();
    return *exchanged;
  }
};

/// Requests of split phase, and the handle by which those find their rank that may outlive it.
struct rank_requests {
  explicit rank_requests(detail::rank_state& of) : handle(of) {}
  /// What is left of a generation that has ended.
  void forget() {
    channels = {};
    started = live = 0;
    operation_threw = false;
  }

  std::array<pending, split_channels> channels{};  ///< [channel − 1]
  std::uint64_t started = 0;                       ///< so far
  std::uint32_t live = 0;                          ///< under way; of a root: of all its family
  std::uint32_t process = numa::process_number();  ///< of a root: in which it may call; 0 inside the caller's operation
  bool operation_threw = false;                    ///< what leaves a call is its operation's own exception
  std::vector<detail::rank_state*> family;         ///< of a root: itself and this thread's ranks of teams split from it
  own_handle handle;
};

/// The operations that a rank has begun in this generation, as it tells them, see announce().
struct rank_acts {
  std::uint32_t number = 0;                                     ///< so many
  std::uint32_t history = 0;                                    ///< a hash of them all
  planning::asked_by by = planning::asked_by::program;          ///< of those that come
  std::array<std::uint64_t, described_operations> described{};  ///< what was said last
  watch waiting;                                                ///< of a root
  choice::call_times times;                                     ///< told in the entries of a call that learns
};

}  // namespace coset::runtime

namespace coset::inline COSET_ABI::detail {

struct alignas(runtime::line_spacing) rank_state {
  rank_state(team_state& of, planning::plan_store&, runtime::shared_memory&, rank_t number_here, unsigned node,
             unsigned memory_node, rank_state* in_root);
  ~rank_state();
  rank_state(rank_state const&) = delete;
  rank_state& operator=(rank_state const&) = delete;

  team_state& team;  ///< whose rank this is: for those above this room
  runtime::shared_memory& shared;
  rank_state& root;     ///< this thread's rank of the team that this one was split from
  rank_t const rank;    ///< among those that share memory, as lines and programs count
  rank_t const number;  ///< in the whole team, as callers count
  runtime::rank_lines const lines;
  runtime::whereabouts here;
  std::array<runtime::channel_end, runtime::channels> ends;
  runtime::rank_memory memory;
  planning::rank_plans plans;
  runtime::rank_requests requests;
  runtime::rank_acts acts;
};

}  // namespace coset::detail
