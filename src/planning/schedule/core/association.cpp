// SPDX-License-Identifier: Apache-2.0
// The hash-consing of bracketings: one table from (left, right) to the fold.
#include "planning/schedule/core/association.hpp"

#include <algorithm>

namespace coset::schedule {

bracketings::bracketings(rank_t ranks) : words_((std::size_t{ranks} + 63) / 64), table_(64, 0), ranks_(ranks) {
  make_room(ranks);
  for (rank_t r = 0; r < ranks; ++r) {
    nodes_.push_back({r, r, r, r, true});
    contributors_[r * words_ + r / 64] = std::uint64_t{1} << r % 64;
  }
}

void bracketings::clear() {
  nodes_.resize(ranks_);
  contributors_.resize(ranks_ * words_);
  std::fill(table_.begin(), table_.end(), 0);
}

void bracketings::make_room(std::size_t values) {
  constexpr std::size_t most = std::size_t{1} << 29;  // 4 GiB
  if (values * words_ > most - contributors_.size())
    throw schedule_error("the contributors of all values of " + std::to_string(ranks_) +
                         " ranks take more than 4 GiB: too many to follow");
  contributors_.resize(contributors_.size() + values * words_);
}

bracketings::value* bracketings::find(value left, value right) {
  std::size_t const mask = table_.size() - 1;
  std::uint64_t const key = (std::uint64_t{left} << 32 | right) * 0x9E3779B97F4A7C15U;  // Fibonacci hashing
  for (std::size_t at = (key >> 32) & mask;; at = (at + 1) & mask) {
    value* const entry = &table_[at];
    if (*entry == 0 || (nodes_[*entry].left == left && nodes_[*entry].right == right)) return entry;
  }
}

void bracketings::grow() {
  table_.assign(2 * table_.size(), 0);
  for (value v = ranks_; v < nodes_.size(); ++v) *find(nodes_[v].left, nodes_[v].right) = v;
}

bracketings::value bracketings::fold(value left, value right) {
  value* entry = find(left, right);
  if (*entry != 0) return *entry;
  if (2 * (nodes_.size() - ranks_ + 1) > table_.size()) {
    grow();
    entry = find(left, right);
  }
  auto const made = static_cast<value>(nodes_.size());
  *entry = made;
  node const a = nodes_[left], b = nodes_[right];
  nodes_.push_back({left, right, a.first, b.last, a.ascending && b.ascending && a.last < b.first});
  make_room(1);
  for (std::size_t w = 0; w < words_; ++w)
    contributors_[made * words_ + w] = contributors_[left * words_ + w] | contributors_[right * words_ + w];
  return made;
}

bool bracketings::overlap(value left, value right) const {
  auto const a = contributors(left), b = contributors(right);
  for (std::size_t w = 0; w < words_; ++w)
    if ((a[w] & b[w]) != 0) return true;
  return false;
}

}  // namespace coset::schedule
