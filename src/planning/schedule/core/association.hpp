// SPDX-License-Identifier: Apache-2.0
// Symbolic values of one block: expressions over the ranks' inputs, hash-consed: equal bracketing is equal number.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coset/error.hpp"
#include "planning/schedule/core/rank_range.hpp"

namespace coset::schedule {

/// A value is a number; value r < ranks is rank r's input, the others are binary folds `left ∘ right`.
/// Two values are equal exactly if they are the same expression, and so the same bits whatever the operation.
class bracketings {
 public:
  using value = std::uint32_t;

  /// Throws no_room, as fold() does, where the contributors of all values would take more than 4 GiB.
  explicit bracketings(rank_t ranks);

  /// Forgets all folds. Cost: that of the folds forgotten.
  void clear();

  /// `left ∘ right`, made at most once.
  value fold(value left, value right);

  /// The ranks that the value contains, in runs that do not touch.
  std::vector<rank_range> contributors(value v) const;
  bool contains_exactly(value v, rank_range) const;

  /// Some rank is contained in both: their fold would count it twice.
  bool overlap(value left, value right) const;

  /// Reading the expression from left to right, ranks ascend.
  bool ascending(value v) const { return nodes_[v].ascending; }

 private:
  struct node {
    value left, right;
    rank_t first, last;  // leftmost and rightmost input
    bool ascending;
  };

  value* find(value left, value right);
  void grow();
  void make_room(std::size_t values);
  void unite(value left, value right);
  void append_runs_of_both(value left, value right);
  std::span<rank_range const> runs(value v) const {
    return std::span(runs_).subspan(first_run_[v], first_run_[v + 1] - first_run_[v]);
  }
  std::span<std::uint64_t const> bits(value v) const { return std::span(bits_).subspan(v * words_, words_); }

  std::size_t words_;  ///< 0 for many ranks, of which a value contains few runs in most schedules
  std::vector<node> nodes_;
  std::vector<std::uint64_t> bits_;  // by value, one for each rank
  std::vector<rank_range> runs_;     // by value, of many ranks
  std::vector<std::size_t> first_run_;
  std::vector<value>
      table_;  // open addressing, at most half full; 0 is empty, since value 0 is an input and never a fold
  rank_t ranks_;
};

}  // namespace coset::schedule
