// SPDX-License-Identifier: Apache-2.0
// Which level of a machine joins two ranks: a core, a cache, a node …
#pragma once

#include <cstddef>
#include <vector>

#include "coset/error.hpp"

namespace coset::schedule {

/// Domains by level, the innermost level first. Two ranks are joined by the first level on which they are in one
/// domain; the last level joins all pairs that no earlier level joins.
class rank_levels {
 public:
  /// Any placement: domains[level][rank]. Throws schedule_error if there is no level or no rank, or levels have
  /// different numbers of ranks.
  explicit rank_levels(std::vector<std::vector<unsigned>> const& domains);
  /// Domains of groups[level] consecutive ranks. Throws schedule_error if there is no level, no rank, or a group of 0.
  rank_levels(rank_t ranks, std::vector<rank_t> const& groups);

  std::size_t count() const noexcept { return levels_; }
  rank_t ranks() const noexcept { return static_cast<rank_t>(domains_.size() / levels_); }

  unsigned domain(rank_t rank, std::size_t level) const noexcept { return domains_[rank * levels_ + level]; }

  std::size_t joining(rank_t a, rank_t b) const noexcept {
    std::size_t level = 0;
    while (level + 1 < levels_ && domains_[a * levels_ + level] != domains_[b * levels_ + level]) ++level;
    return level;
  }

 private:
  std::size_t levels_;
  std::vector<unsigned> domains_;  // [rank][level]: those of one rank are looked at together
};

}  // namespace coset::schedule
