// SPDX-License-Identifier: Apache-2.0
// The compiler's middle form: moves between locations, in one linear order of all ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "program/program.hpp"

namespace coset::program {

/// A value is named after the assignment or input that made it; copies keep the name.
using value_t = std::uint32_t;
inline constexpr value_t no_value = UINT32_MAX;

/// A block-sized home of values.
struct location {
  area where;
  rank_t rank;
  std::uint32_t layer;  ///< of staging; 0 elsewhere
  schedule::block_t block;
  value_t value;         ///< what is read from it, or left in it
  bool partial = false;  ///< as a partial result that is wider than an element
};

/// What a rank does in one go.
struct operation {
  /// A message is sent from locations and received into others; its two operations are neighbours in no rank's order. So
  /// it is with the two ends of an offload.
  enum class kind : std::uint8_t { enter, move, send, receive, offload, await_offload, leave };
  kind what = kind::move;
  rank_t rank = 0;
  schedule::block_t block = 0;
  std::vector<location> from, to;
  bool glued = false;         ///< shares the signal of the next operation of its rank
  std::uint32_t partner = 0;  ///< of a message: the operation at its other end
  std::uint32_t slice = 0;    ///< of an offload
};

/// The linear order: all ranks' operations, each rank's in execution order, every write before its reads.
struct linear_order {
  rank_t ranks;
  std::uint32_t blocks;
  std::uint32_t layers;
  std::vector<operation> operations;
  std::vector<value_t> inputs;    ///< [rank · blocks + block]: the name of what a caller's input holds
  std::vector<rank_t> output_of;  ///< the rank whose output replaces a rank's; empty if every rank has its own
};

/// What is offloaded in one go: for each domain the folds, block by block, of which it makes one rank's.
using slice = std::vector<std::vector<schedule::assignment>>;

/// A schedule none of whose folds reads a value in another domain: messages bring such values first.
struct split_schedule {
  schedule::schedule whole;
  /// [step]: all its assignments are messages, copies to a proxy from another domain
  std::vector<char> has_messages;
  std::vector<std::vector<slice>> slices;  ///< [step]: if there are any, all its assignments are theirs
};

/// Inserts, before each step, one that brings what its readers miss to the proxies of their domains: every value once
/// to every domain that reads it, however many ranks read it there. `offloads`: what can be offloaded is left as it is,
/// in steps of its own; throws schedule_error if nothing can, or needs more slices than there are combiners for.
split_schedule with_messages(schedule::schedule const&, distribution const&, bool offloads);

/// Assigns locations. Staging layers are shared between values whose lifetimes do not overlap.
linear_order assign_locations(split_schedule const&, policy const&, std::vector<rank_t> const& output_of,
                              distribution const&);

/// For each operation: the operations of other ranks that it must wait for, and whether any operation waits for it.
struct dependences {
  std::vector<std::vector<std::uint32_t>> needs;
  std::vector<char> signals;
  std::vector<std::vector<char>> knows;  ///< [rank][rank]: who leaves knowing that who has entered
};

/// Every wait is a read-after-write, write-after-read or write-after-write hazard that vector clocks do not imply
/// already. Throws schedule_error if a read meets another value than the one it was made for.
dependences insert_waits(linear_order const&, policy const&);

}  // namespace coset::program
