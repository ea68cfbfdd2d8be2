// SPDX-License-Identifier: Apache-2.0
#include "choice/levels.hpp"

#include <set>

namespace coset::choice {
namespace {

/// The size of the groups with equal `key` if the ranks of each are consecutive and all groups have one size; else 0.
rank_t group_size(std::vector<processor> const& places, unsigned processor::*key) {
  rank_t size = 0, run = 0;
  std::set<unsigned> seen;
  for (std::size_t r = 0; r < places.size(); ++r) {
    bool const first = r == 0 || places[r].*key != places[r - 1].*key;
    if (first && !seen.insert(places[r].*key).second) return 0;
    run = first ? 1 : run + 1;
    bool const last = r + 1 == places.size() || places[r + 1].*key != places[r].*key;
    if (last && size != 0 && run != size) return 0;
    if (last) size = run;
  }
  return size;
}

}  // namespace

std::vector<rank_t> nodes_of(std::vector<processor> const& places) {
  std::vector<rank_t> sizes;
  std::set<unsigned> seen;
  for (std::size_t r = 0; r < places.size(); ++r) {
    if (r > 0 && places[r].node == places[r - 1].node) {
      ++sizes.back();
    } else if (seen.insert(places[r].node).second) {
      sizes.push_back(1);
    } else {
      return {};
    }
  }
  return sizes.size() > 1 ? sizes : std::vector<rank_t>{};
}

std::vector<rank_t> levels_of(std::vector<processor> const& places) {
  std::vector<rank_t> levels;
  rank_t inner = 1;
  for (auto const key : {&processor::l3, &processor::node, &processor::package}) {
    rank_t const size = group_size(places, key);
    if (size <= inner || size >= places.size() || size % inner != 0) continue;
    levels.push_back(inner = size);
  }
  return levels;
}

}  // namespace coset::choice
