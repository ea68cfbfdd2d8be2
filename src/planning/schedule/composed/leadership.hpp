// SPDX-License-Identifier: Apache-2.0
// Which ranks of each host lead, and for which part of the vector.
#pragma once

#include <vector>

#include "planning/schedule/core/assembly.hpp"

namespace coset::schedule {

/// Hosts of consecutive ranks. The first k_j of host j lead, leader i for [i/k_j, (i+1)/k_j) of the vector; between
/// neighbouring ends of such parts lie *pieces*, each of which has one leader on every host.
class leadership {
 public:
  /// `most`: leaders of a host; 0: all its ranks. Throws schedule_error if a host has no rank.
  leadership(std::vector<rank_t> hosts, rank_t most);

  std::size_t hosts() const { return ranks_.size(); }
  rank_t ranks(std::size_t host) const { return ranks_[host]; }
  rank_t first(std::size_t host) const { return first_[host]; }
  rank_t all() const { return first_.back(); }
  rank_t widest() const;
  bool is_equal() const;
  std::size_t host_of(rank_t) const;

  rank_t leaders(std::size_t host) const;
  std::vector<piece> const& pieces() const { return pieces_; }
  /// Counted within its host.
  rank_t leader(std::size_t host, std::size_t piece) const;

  /// Of a vector in which each host has a part: where a place is if parts are as long as hosts have ranks, given where it
  /// is if all are equal.
  fraction by_ranks(fraction where) const;

 private:
  std::vector<rank_t> ranks_, first_{0};
  rank_t most_;
  std::vector<piece> pieces_;
};

/// The part of leader `number` of so many.
piece part_of_leader(std::int64_t number, std::int64_t leaders);

/// What lies in both, if anything.
piece common(piece, piece);
bool is_empty(piece);

}  // namespace coset::schedule
