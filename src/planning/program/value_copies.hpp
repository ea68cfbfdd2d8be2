// SPDX-License-Identifier: Apache-2.0
// What becomes of each copy of a block on its way: who makes it, who reads it, where it has to lie for that.
#pragma once

#include <cstdint>
#include <vector>

#include "planning/program/operation.hpp"

namespace coset::program {

/// A copy of a value: what a (rank, block, slot) holds; slot 0 is the rank's input.
using copy_t = std::uint32_t;

/// What is known of each copy before it has a location.
struct value_copy {
  schedule::assignment const* made_by = nullptr;
  value_t value = no_value;  ///< the first copy of it here: a fold's result, an input, or what a message has brought
  bool moved = false;        ///< written by a peer's operation or a message, not by its own rank
  bool sent = false;         ///< read by a message
  bool received = false;     ///< written by one
  bool read = false;         ///< by a fold or a copy that does not ride on the operation making this one
  bool peers_read = false;
  bool far_reads = false;  ///< by ranks of other processes
  bool is_result = false;
  bool is_partial = false;     ///< of a value's first copy here: kept wider than an element
  bool saved = false;          ///< an input that its own rank reads after the result has taken its place
  std::vector<copy_t> riders;  ///< moved copies that the operation making this one writes
};

/// All copies of a schedule, known before anything has a location.
class value_copies {
 public:
  value_copies(split_schedule const&, policy const&);

  std::size_t size() const { return all_.size(); }
  value_copy const& operator[](copy_t h) const { return all_[h]; }
  std::size_t cell(rank_t rank, schedule::block_t block) const { return rank * blocks_ + block; }
  /// Those of a cell are [first(cell), first(cell + 1)).
  copy_t first(std::size_t cell) const { return first_[cell]; }
  copy_t at(rank_t rank, schedule::block_t block, schedule::slot_t slot) const {
    return first_[cell(rank, block)] + slot;
  }
  copy_t target(schedule::assignment const& a) const { return at(a.rank, a.block, a.slot); }
  /// Of a copy, or what this domain brings to an offload.
  copy_t only_source(schedule::assignment const& a) const;

  bool is_partial(value_copy const& h) const { return all_[h.value].is_partial; }
  /// Where peers reach a value that was made on the way. A caller's array has no room for what is wider than elements.
  /// Messages are sent from staging and received there.
  area home_of(value_copy const& h) const {
    return is_partial(h) || h.sent || h.received ? area::staging : policy_.later;
  }

  /// [rank · blocks + block]: inputs.
  std::vector<copy_t> inputs() const { return {first_.begin(), first_.end() - 1}; }

 private:
  void number();
  void name_values();
  void mark_messages(split_schedule const&);
  void mark_offloads(split_schedule const&);
  bool is_stored_by_owner(schedule::assignment const&) const;
  void mark_moved_copies();
  void mark_reads(split_schedule const&);
  void mark_partials(split_schedule const&);
  void mark_saved_inputs();

  template <class Visit>
  void for_each_assignment(Visit visit) const {
    for (auto const& step : schedule_.steps) {
      for (schedule::assignment const& a : step) visit(a);
    }
  }

  schedule::schedule const& schedule_;
  policy const& policy_;
  std::size_t const blocks_;
  std::vector<copy_t> first_;
  std::vector<value_copy> all_;
};

/// Gives every location its layer of staging, shared between values whose lifetimes do not overlap, or the room in the
/// caller's output that is free at that time. Until then `layer` names the copy. Returns the number of layers.
std::uint32_t allocate_staging(schedule::schedule const&, value_copies const&, policy const&,
                               std::vector<rank_t> const& output_of, std::vector<operation>&);

}  // namespace coset::program
