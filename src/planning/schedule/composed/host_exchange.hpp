// SPDX-License-Identifier: Apache-2.0
// What hosts do among one another, as one of them does it, set on its leaders.
#pragma once

#include <vector>

#include "planning/schedule/composed/leadership.hpp"
#include "planning/schedule/parts/part.hpp"

namespace coset::schedule {

/// Every piece of the vector is exchanged among its leaders, one per host, all pieces at once. Keeps references.
class host_exchange {
 public:
  /// `between`: this host's part of the schedule among one rank of each. Its blocks are cut where the pieces are, each
  /// piece being a vector to it; or `by_ranks`, as verbs need whose vectors are made of ranks' pieces: block j is what
  /// belongs to the ranks of host j, and of each piece of the vector what lies in both.
  host_exchange(part between, leadership const&, std::size_t host, bool by_ranks);

  void append_cuts(std::vector<fraction>& cuts) const;

  /// Adds its steps. What a leader holds is its input, and it will hold its result, where there is one. Steps without
  /// assignments stay, as other hosts send and receive in the same ones.
  void add(assembly&);

  /// Puts in what others read here, and what is read of them. `made.own` has all steps.
  void finish(part& made) &&;

 private:
  struct placed {
    piece where;
    assembly::range blocks;
  };

  void place_blocks(assembly const&);
  void add_step(assembly&, std::size_t step, std::size_t piece);
  assembly::range blocks_at(std::size_t piece, block_t block) const {
    return places_[piece * between_.own.blocks.size() + block].blocks;
  }
  slot_t remote_index(std::size_t piece, slot_t of_between) const {
    return static_cast<slot_t>(piece * between_.remote.size() + of_between);
  }

  part const between_;
  leadership const& of_;
  std::size_t const host_;
  std::vector<placed> places_;              ///< [piece · blocks + block]
  std::vector<std::vector<slot_t>> slots_;  ///< [block of the whole][slot of the part between hosts]
  std::vector<std::vector<departure>> departures_;
};

}  // namespace coset::schedule
