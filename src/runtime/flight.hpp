// SPDX-License-Identifier: Apache-2.0
// One operation under way.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "planning/plan/bound_plan.hpp"

namespace coset::runtime {

/// So many bytes on from an array, which may be null where a rank gives or gets nothing, and of which a rank may have but
/// a piece: as numbers, as pointers must not leave their array.
template <class Byte>
Byte* moved(Byte* array, std::size_t bytes) noexcept {
  return reinterpret_cast<Byte*>(reinterpret_cast<std::uintptr_t>(array) + bytes);
}

/// The state of one operation of one rank, in two cache lines. prepare() initialises only the members that are read
/// before they are written: 128 bytes of zeros would take 7 ns, while a call of 8 bytes takes 110.
struct flight {
  using moment = std::chrono::steady_clock::duration;  ///< since the clock's epoch

  /// A call longer than a segment runs the program once for each.
  struct segment_range {
    std::size_t now, end;
  };
  /// Identifies the operation to other ranks; set by announce().
  struct act_name {
    std::uint32_t number;   ///< among the rank's operations in its team
    std::uint32_t history;  ///< of those, this one included
  };
  /// Its place in the lines; tag, base, parity and whether exchanged by enter().
  struct line_place {
    std::uint64_t tag;
    std::uint64_t base;
    std::uint32_t channel;
    std::uint8_t parity : 1;
    std::uint8_t exchanged : 1;  ///< pairs have each other's staging
    bool entered;                ///< this segment's entry has been prepared
    bool started;                ///< in split phase by its caller
    planning::asked_by by;
  };
  /// For operations that wait without blocking.
  struct looks_in_vain {
    std::uint32_t all;
    std::uint32_t stuck;        ///< since it last got on; only where there is a deadline
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
  std::uint32_t at;  ///< instruction
  std::uint32_t wait;
  looks_in_vain looks;
};
static_assert(sizeof(flight) == 128);

/// A channel of split phase: the operation under way there, or the last one that was.
struct pending {
  flight under_way;
  std::shared_ptr<void const> operation;                                ///< the user's, kept
  void (*deliver)(void const* operation, void* to) noexcept = nullptr;  ///< see detail::call
  void* delivered_to = nullptr;
  std::uint64_t serial = 0;
  bool live = false;
  bool given_up = false;  ///< not complete and never will be: the team has failed
};

}  // namespace coset::runtime
