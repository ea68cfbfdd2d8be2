// SPDX-License-Identifier: Apache-2.0
#include "planning/choice/factors.hpp"

#include <algorithm>

namespace coset::choice {
namespace {

/// More dimensions than this are never worth their rounds.
constexpr std::size_t most_factors = 6;

void append_products(rank_t n, rank_t most, std::vector<rank_t>& begun, std::vector<std::vector<rank_t>>& to) {
  if (n == 1) to.push_back(begun);
  if (begun.size() == most_factors) return;
  for (rank_t factor = std::min(n, most); factor > 1; --factor) {
    if (n % factor != 0) continue;
    begun.push_back(factor);
    append_products(n / factor, factor, begun, to);
    begun.pop_back();
  }
}

}  // namespace

std::vector<rank_t> dimensions(rank_t ranks, rank_t most) {
  std::vector<rank_t> factors;
  for (rank_t left = ranks; left > 1;) {
    rank_t f = std::min(left, most);
    while (f > 1 && left % f != 0) --f;
    if (f == 1) return {ranks};
    factors.push_back(f);
    left /= f;
  }
  if (factors.empty()) factors.push_back(ranks);
  return factors;
}

std::vector<std::vector<rank_t>> all_products(rank_t ranks) {
  std::vector<std::vector<rank_t>> all;
  std::vector<rank_t> none;
  append_products(ranks, ranks, none, all);
  return all;
}

std::vector<rank_t> sizes_by_level(question const& q) {
  std::vector<rank_t> sizes;
  rank_t inner = 1;
  for (rank_t const size : groups_of(q)) {
    sizes.push_back(size / inner);
    inner = size;
  }
  sizes.push_back(q.ranks / inner);
  return sizes;
}

}  // namespace coset::choice
