// SPDX-License-Identifier: Apache-2.0
// All that one rank knows and nobody else touches.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "coset/detail/collective.hpp"
#include "plan/plan_cache.hpp"
#include "team/arena.hpp"
#include "team/lines.hpp"
#include "team/messages.hpp"
#include "team/rank_place.hpp"

namespace coset::team_room {

/// How far a channel has come. Where ranks that were interrupted go on together, the furthest counts.
struct channel_position {
  std::uint32_t epoch = 0;  ///< wraps around
  std::uint64_t base = 0;
  std::size_t capacity = 0;
};

inline channel_position further(channel_position const& a, channel_position const& b) {
  bool const a_is_unused = a.epoch == 0 && a.base == 0;
  bool const b_is_later = a_is_unused || static_cast<std::int32_t>(b.epoch - a.epoch) > 0;
  return {b_is_later ? b.epoch : a.epoch, std::max(a.base, b.base), std::max(a.capacity, b.capacity)};
}

/// One rank's end of a channel. Epoch, base and capacity follow the same rule on every rank, so that they agree
/// without being exchanged.
struct channel_end {
  std::uint32_t epoch = 0;    ///< of the latest operation
  std::uint64_t base = 0;     ///< of the next operation's posts
  std::size_t capacity = 0;   ///< of the staging in use
  bool peers_entered = true;  ///< the latest operation was full: its predecessor's lines are free
  std::array<std::vector<rank_t> const*, 2> readers{};  ///< by parity: who read this rank's lines last
  std::vector<channel_lines*> lines;                    ///< [rank]; empty until the channel is opened
  std::vector<std::byte*> bases;                        ///< [row · ranks + rank], see program::row
  std::unique_ptr<mailbox> mail;                        ///< opened by the first program that has messages

  channel_position position() const { return {epoch, base, capacity}; }
};

/// One operation under way: all its state.
struct flight {
  detail::bound_plan const* plan = nullptr;
  program::program const* code = nullptr;
  program::layout const* layout = nullptr;
  void const* operation = nullptr;  ///< the user's, if there is one
  std::byte const* in = nullptr;    ///< where the whole vector would begin, even if the caller has a piece
  std::byte* out = nullptr;
  std::size_t segment = 0, segment_end = 0;
  std::uint32_t number = 0;   ///< among the rank's operations in its team
  std::uint32_t history = 0;  ///< of those, this one included
  std::uint64_t tag = 0;
  std::uint64_t base = 0;
  std::uint32_t at = 0;  ///< instruction
  std::uint32_t wait = 0;
  std::uint32_t channel = 0;
  std::uint8_t parity = 0;
  bool started = false;           ///< in split phase by its caller
  bool entered = false;           ///< this segment's entry has been prepared
  std::uint32_t looks = 0;        ///< in vain, of those that did not block
  std::uint32_t stuck_looks = 0;  ///< since it last got on; only where there is a deadline
  std::chrono::steady_clock::time_point stuck_since = {}, asked = {};
};

/// What a thread that waits knows of its team's standing still, see standstill.hpp.
struct watch {
  std::uint64_t seen = 0;        ///< the question that was there before its latest look in vain; 0: it moves
  std::uint64_t raised = 0;      ///< the question that this thread has replaced by the next one; 0: none
  std::uint64_t moves_then = 0;  ///< of all ranks
};

/// A channel of split phase: the operation under way there, or the last one that was.
struct pending {
  flight under_way;
  std::shared_ptr<void const> operation;  ///< the user's, kept
  std::uint64_t serial = 0;
  bool live = false;
  bool given_up = false;  ///< not complete and never will be: the team has failed
};

}  // namespace coset::team_room

namespace coset::detail {

struct alignas(team_room::line_spacing) rank_state {
  rank_state(team_state&, rank_t number_here, rank_state* in_root);
  ~rank_state();
  rank_state(rank_state const&) = delete;
  rank_state& operator=(rank_state const&) = delete;

  team_state& team;
  rank_t const rank;       ///< among those that share memory, as lines and programs count
  rank_t const number;     ///< in the whole team, as callers count
  rank_state& root;        ///< this thread's rank of the team that this one was split from
  std::thread::id thread;  ///< debug builds assert it
  unsigned node = member::unknown_node;
  unsigned memory_node = team_room::anywhere;  ///< where this rank's memory belongs, as the system numbers it
  team_room::own_line& own;                    ///< of the root: a thread is busy, whichever of its teams it works for
  team_room::own_line& told;                   ///< of this team: what this rank is doing
  std::atomic<std::uint32_t> const& sleepers;  ///< that wait for this rank's posts
  std::array<team_room::channel_end, team_room::channels> ends;
  std::vector<void*> operands;  ///< scratch: as many as some program of this rank has had at once
  std::vector<team_room::piece> pieces;
  planning::plan_cache plans;
  std::byte* view = nullptr;  ///< where allreduce_view leaves results that the ranks of a node share
  std::size_t view_capacity = 0;
  std::array<team_room::pending, team_room::split_channels> requests;  ///< [channel − 1]
  std::uint64_t started = 0;                                           ///< requests, so far
  std::uint32_t live = 0;           ///< requests under way; of a root: of all its family
  bool folding = false;             ///< of a root: inside the caller's operation, which may call no collective
  std::vector<rank_state*> family;  ///< of a root: itself and this thread's ranks of teams split from it
  std::uint32_t operations = 0;     ///< begun in this generation
  std::uint32_t history = 0;        ///< of them
  std::array<std::uint64_t, team_room::described_operations> described{};  ///< what was said last, see announce()
  team_room::watch standstill;                                             ///< of a root
  team_room::own_place const place;                                        ///< for requests, which may outlive this
};

}  // namespace coset::detail
