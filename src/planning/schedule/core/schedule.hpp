// SPDX-License-Identifier: Apache-2.0
// Schedules as data, in static single assignment form: integers only, no threads, no memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coset/error.hpp"
#include "coset/verbs/verb.hpp"
#include "planning/schedule/core/fraction.hpp"

namespace coset::schedule {

using block_t = std::uint32_t;
using slot_t = std::uint32_t;

/// "No slot": the rank ends without a value of the block.
inline constexpr slot_t no_slot = UINT32_MAX;

/// What a schedule is for: a verb that has schedules. The others, whose results alone differ, have those of allreduce.

constexpr bool has_schedules(verb what) { return !detail::shares_result(what); }

/// A piece of the vector that is moved as one, in parts of the whole: exact, rounded to elements by the program.
struct block {
  fraction offset, size;
};

/// A value that an assignment reads: of a peer as it stood before the step, of the own rank as it stands.
struct source {
  rank_t rank;
  slot_t slot;
  friend bool operator==(source const&, source const&) = default;
};

/// (rank, block, slot) := the sources folded left to right; one source is a copy. The sources lie in schedule::sources.
struct assignment {
  rank_t rank;
  block_t block;
  slot_t slot;
  std::uint32_t first, count;
};

/// One schedule for all ranks. Slot 0 is a rank's input; every other slot is written exactly once.
/// In a step all ranks act at once; the assignments of one rank stand in execution order.
struct schedule {
  coset::verb verb = verb::allreduce;
  std::string algorithm;                          ///< its name alone, "generalized"
  std::map<std::string, std::string> parameters;  ///< {"radix": "2", "saved_steps": "1"}
  std::optional<rank_t> root;
  rank_t ranks = 1;
  bool idempotent_only = false;  ///< contributors may count more than once: only for minimum and the like
  std::vector<block> blocks;     ///< tile [0, 1)
  std::vector<source> sources;
  std::vector<std::vector<assignment>> steps;
  std::vector<std::vector<slot_t>> result;  ///< [rank][block], no_slot where the rank keeps nothing

  std::span<source const> from(assignment const& a) const { return std::span(sources).subspan(a.first, a.count); }
};

/// There would be too much to write out, or to follow.
struct no_room : schedule_error {
  using schedule_error::schedule_error;
};

/// Whether require_room() lets so many pass.
bool has_room(rank_t ranks, std::size_t blocks);

/// Throws no_room if a schedule of so many ranks and blocks would not fit a common machine: written out for all
/// ranks, generated and validated, it takes some 70 bytes for each block of each rank.
void require_room(rank_t ranks, std::size_t blocks);

/// While it lives there is room for fewer blocks than memory has, in this process: for who has to answer soon.
class room_limit {
 public:
  explicit room_limit(std::size_t blocks);
  ~room_limit();
  room_limit(room_limit const&) = delete;
  room_limit& operator=(room_limit const&) = delete;

 private:
  std::size_t const before_;
};

}  // namespace coset::schedule
