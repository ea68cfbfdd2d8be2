// SPDX-License-Identifier: Apache-2.0
// The hash-consing of bracketings: one table from (left, right) to the fold.
#include "planning/schedule/core/association.hpp"

#include <algorithm>

#include "planning/schedule/core/schedule.hpp"

namespace coset::schedule {
namespace {

/// More ranks than this are kept as runs: bits of all values would take gigabytes.
constexpr rank_t most_in_bits = 1 << 13;

}  // namespace

bracketings::bracketings(rank_t ranks)
    : words_(ranks <= most_in_bits ? (std::size_t{ranks} + 63) / 64 : 0), first_run_{0}, table_(64, 0), ranks_(ranks) {
  make_room(ranks);
  for (rank_t r = 0; r < ranks; ++r) {
    nodes_.push_back({r, r, r, r, true});
    if (words_ > 0) {
      bits_[r * words_ + r / 64] = std::uint64_t{1} << r % 64;
    } else {
      runs_.push_back({r, r + 1});
      first_run_.push_back(runs_.size());
    }
  }
}

void bracketings::clear() {
  nodes_.resize(ranks_);
  bits_.resize(ranks_ * words_);
  if (words_ == 0) runs_.resize(ranks_), first_run_.resize(std::size_t{ranks_} + 1);
  std::fill(table_.begin(), table_.end(), 0);
}

void bracketings::make_room(std::size_t values) {
  constexpr std::size_t most = std::size_t{1} << 29, most_runs = std::size_t{1} << 24;  // 4 GiB, 128 MiB
  if (values * words_ > most - bits_.size() || runs_.size() > most_runs)
    throw no_room("the contributors of all values of " + std::to_string(ranks_) +
                  " ranks take more than 4 GiB, or are no runs of ranks: too many to follow");
  bits_.resize(bits_.size() + values * words_);
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
  unite(left, right);
  return made;
}

void bracketings::unite(value left, value right) {
  make_room(1);
  if (words_ == 0) return append_runs_of_both(left, right);
  std::uint64_t* const made = bits_.data() + bits_.size() - words_;
  for (std::size_t w = 0; w < words_; ++w) made[w] = bits_[left * words_ + w] | bits_[right * words_ + w];
}

void bracketings::append_runs_of_both(value left, value right) {
  std::size_t const begin = runs_.size(), most = begin + runs(left).size() + runs(right).size();
  if (most > runs_.capacity()) runs_.reserve(2 * most);  // what is read stays where it is
  auto const a = runs(left), b = runs(right);
  for (std::size_t i = 0, k = 0; i < a.size() || k < b.size();) {
    bool const takes_a = k == b.size() || (i < a.size() && a[i].begin <= b[k].begin);
    rank_range const next = takes_a ? a[i++] : b[k++];
    if (runs_.size() > begin && next.begin <= runs_.back().end)
      runs_.back().end = std::max(runs_.back().end, next.end);
    else
      runs_.push_back(next);
  }
  first_run_.push_back(runs_.size());
}

bool bracketings::overlap(value left, value right) const {
  for (std::size_t w = 0; w < words_; ++w)
    if ((bits_[left * words_ + w] & bits_[right * words_ + w]) != 0) return true;
  if (words_ > 0) return false;
  auto const a = runs(left), b = runs(right);
  for (std::size_t i = 0, k = 0; i < a.size() && k < b.size();) {
    if (a[i].begin < b[k].end && b[k].begin < a[i].end) return true;
    a[i].end <= b[k].begin ? ++i : ++k;
  }
  return false;
}

std::vector<rank_range> bracketings::contributors(value v) const {
  if (words_ == 0) return {runs(v).begin(), runs(v).end()};
  std::vector<rank_range> found;
  for (rank_t r = 0; r < ranks_; ++r) {
    if ((bits(v)[r / 64] >> r % 64 & 1) == 0) continue;
    if (!found.empty() && found.back().end == r)
      ++found.back().end;
    else
      found.push_back({r, r + 1});
  }
  return found;
}

bool bracketings::contains_exactly(value v, rank_range range) const {
  if (words_ == 0) return runs(v).size() == 1 && runs(v).front() == range;
  for (std::size_t w = 0; w < words_; ++w) {
    auto const below = [&](rank_t end) {  // the bits of this word that stand for ranks below end
      return end <= 64 * w ? 0 : end >= 64 * (w + 1) ? ~std::uint64_t{0} : (std::uint64_t{1} << end % 64) - 1;
    };
    if (bits(v)[w] != (below(range.end) & ~below(range.begin))) return false;
  }
  return true;
}

}  // namespace coset::schedule
