// SPDX-License-Identifier: Apache-2.0
// One operation under way.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "plan/bound_plan.hpp"

namespace coset::runtime {

/// All the state of one operation of one rank. What has no value here gets one before it is read: zeros for all of it would
/// take a tenth of a call of 8 bytes.
struct flight {
  using moment = std::chrono::steady_clock::duration;  ///< since the clock's epoch

  /// A call longer than a segment runs the program once for each.
  struct segment_range {
    std::size_t now = 0, end;
    bool entered = false;  ///< this segment's entry has been prepared
  };
  /// As peers tell it from others; by announce().
  struct act_name {
    std::uint32_t number;   ///< among the rank's operations in its team
    std::uint32_t history;  ///< of those, this one included
    bool started = false;   ///< in split phase by its caller
  };
  /// Its place in the lines; by enter(), but for the channel.
  struct line_place {
    std::uint64_t tag;
    std::uint64_t base;
    std::uint32_t channel;
    std::uint8_t parity;
  };
  /// Of those that wait without blocking.
  struct looks_in_vain {
    std::uint32_t all = 0;
    std::uint32_t stuck = 0;    ///< since it last got on; only where there is a deadline
    moment stuck_since, asked;  ///< by look_around()
  };

  detail::bound_plan const* plan;
  program::program const* code;
  program::layout const* layout;  ///< of this segment; by enter()
  void const* operation;          ///< the user's, if there is one
  std::byte const* in;            ///< where the whole vector would begin, even if the caller has a piece
  std::byte* out;
  segment_range segment;
  act_name act;
  line_place line;
  std::uint32_t at = 0;  ///< instruction
  std::uint32_t wait = 0;
  looks_in_vain looks;
};

/// A channel of split phase: the operation under way there, or the last one that was.
struct pending {
  flight under_way;
  std::shared_ptr<void const> operation;  ///< the user's, kept
  std::uint64_t serial = 0;
  bool live = false;
  bool given_up = false;  ///< not complete and never will be: the team has failed
};

}  // namespace coset::runtime
