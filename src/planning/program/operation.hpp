// SPDX-License-Identifier: Apache-2.0
// The compiler's middle form: moves between locations, in one linear order of all ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "planning/program/program.hpp"

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
  /// A message is sent from locations and received into others, each in a domain of its own.
  enum class kind : std::uint8_t { enter, move, send, receive, offload, await_offload, leave };
  kind what = kind::move;
  rank_t rank = 0;
  schedule::block_t block = 0;
  std::vector<location> from, to;
  bool glued = false;       ///< shares the signal of the next operation of its rank
  rank_t peer = 0;          ///< of a message: the proxy at its other end, counted in all domains
  std::uint32_t slice = 0;  ///< of an offload
  std::uint32_t step = 0;   ///< of the schedule, see program::steps
};

/// The linear order: all ranks' operations, each rank's in execution order, every write before its reads.
struct linear_order {
  rank_t ranks;
  std::uint32_t blocks;
  std::uint32_t layers;
  std::vector<operation> operations;
  std::vector<value_t> inputs;    ///< [rank · blocks + block]: the name of what a caller's input holds
  std::vector<rank_t> output_of;  ///< the rank whose output replaces a rank's; empty if every rank has its own
  bool exchanges = false;         ///< all_to_all
  rank_t first = 0;               ///< number of the domain's first rank

  /// Which piece of a caller's array a block is. In an all_to_all block t goes t ranks on: in the input of rank r it is the
  /// piece for rank r + t, in its output the one of rank r − t.
  schedule::block_t piece(area where, rank_t rank, schedule::block_t block) const {
    if (!exchanges) return block;
    rank_t const distance = where == area::input ? block : blocks - block;
    return (first + rank + distance) % blocks;
  }
};

/// What is offloaded in one go: folds whose only source is what this domain brings.
using slice = std::vector<schedule::assignment>;

/// A value that a message takes to another domain.
struct sent_value {
  rank_t sender, receiver;  ///< proxies; the receiver counted in all domains
  rank_t rank;              ///< whose it is, counted here
  schedule::block_t block;
  schedule::slot_t slot, named;  ///< here, and as the receiver names it
  bool partial;
};

/// A value that a message brings: its assignment is a copy of a rank that is none of these.
struct received_value {
  rank_t sender;           ///< a proxy, counted in all domains
  rank_t rank;             ///< whose it is there, counted in all domains
  schedule::slot_t named;  ///< as the sender's domain names it
  bool partial;
};

/// How many layers of staging a domain may need.
struct layer_bound {
  std::uint32_t most = 0;              ///< see compiled, where hosts need not be alike
  bool hosts_are_alike = true;         ///< in what their ranks do
  bool has_several_processes = false;  ///< some domain: which ranks are near each other may differ from host to host
};

/// What one domain does, none of whose folds reads a value in another: messages bring such values first.
struct split_schedule {
  schedule::schedule own;
  std::vector<char> has_messages;                     ///< [step]: all its assignments are received
  std::vector<std::vector<sent_value>> sent;          ///< [step]: before it
  std::vector<std::vector<received_value>> received;  ///< [step][assignment]
  std::vector<std::vector<slice>> slices;             ///< [step]: if there are any, all its assignments are theirs
  std::vector<std::vector<rank_t>> combiners = {};    ///< [slice][domain]
  std::size_t own_domain = 0;
  rank_t first = 0;       ///< number of the domain's first rank
  std::size_t grain = 1;  ///< see compiled
  layer_bound bound = {};
  bool alone = true;                                                           ///< there are no other processes
  std::vector<rank_t> leaders = {};                                            ///< [rank]: the first of its process
  bool is_near(rank_t a, rank_t b) const { return leaders[a] == leaders[b]; }  ///< reaches its caller's arrays
};

/// Inserts, before each step, one that brings what its readers miss to the proxies of their domain: every value once,
/// however many ranks read it here. `offloads`: what can be offloaded is left as it is, in steps of its own; throws
/// schedule_error if nothing can, or needs more slices than there are combiners for.
split_schedule with_messages(schedule::schedule const&, distribution const&, bool offloads);
split_schedule with_messages(schedule::part const&, distribution const&);

/// Assigns locations. Staging layers are shared between values whose lifetimes do not overlap.
linear_order assign_locations(split_schedule const&, policy const&, std::vector<rank_t> const& output_of);

/// Lets the only reader of what a rank has left in its staging store there, too, where that is another rank. A line that another
/// has read is shared with it: to write it again takes 6 ns near, 23 ns apart on Zen 4, a line that the other has written 2 and 6.
void return_lines(linear_order&);

/// Where a block of staging is when pairs have exchanged theirs: [(rank · layers + layer) · blocks + block], numbered likewise. Empty
/// unless each block is written once, by its rank, for one other to read, which writes as many for that rank.
std::vector<std::size_t> exchange_lines(linear_order const&);

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
