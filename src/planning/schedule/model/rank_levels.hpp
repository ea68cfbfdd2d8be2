// SPDX-License-Identifier: Apache-2.0
// Which level of a machine joins two ranks: a core, a cache, a node …
#pragma once

#include <algorithm>
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

  /// How many ranks each domain of a level has if all are consecutive, of one size, and made of whole domains of the level
  /// inside; 0 if they are not. All ranks of the last level are one domain.
  rank_t even_group(std::size_t level) const noexcept { return groups_[level]; }
  /// How many ranks each domain of a level has, in the order of ranks; none if the ranks of one are not consecutive.
  std::vector<rank_t> sizes(std::size_t level) const;
  bool is_even() const noexcept { return std::ranges::find(groups_, rank_t{0}) == groups_.end(); }

 private:
  void find_groups();

  std::size_t levels_;
  std::vector<unsigned> domains_;  // [rank][level]: those of one rank are looked at together
  std::vector<rank_t> groups_;     // [level]: see even_group()
};

}  // namespace coset::schedule
