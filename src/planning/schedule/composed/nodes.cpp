// SPDX-License-Identifier: Apache-2.0
// Ranks by node.
#include "planning/schedule/composed/nodes.hpp"

#include <numeric>
#include <string>

namespace coset::schedule {

std::vector<std::vector<rank_t>> members_of(std::vector<rank_t> const& nodes) {
  if (nodes.empty()) throw schedule_error("no nodes: list how many ranks each has, like 5+2+4");
  std::vector<std::vector<rank_t>> members;
  rank_t next = 0;
  for (rank_t const size : nodes) {
    if (size == 0) throw schedule_error("node " + std::to_string(members.size()) + " has 0 ranks: leave it out");
    auto& node = members.emplace_back(size);
    std::iota(node.begin(), node.end(), next);
    next += size;
  }
  return members;
}

}  // namespace coset::schedule
