// SPDX-License-Identifier: Apache-2.0
// Domains laid out rank by rank.
#include "planning/schedule/model/rank_levels.hpp"

#include <string>

namespace coset::schedule {

rank_levels::rank_levels(std::vector<std::vector<unsigned>> const& domains) : levels_(domains.size()) {
  if (levels_ == 0 || domains.front().empty()) throw schedule_error("levels need at least one level and one rank");
  for (auto const& level : domains)
    if (level.size() != domains.front().size())
      throw schedule_error("levels of " + std::to_string(domains.front().size()) + " and of " +
                           std::to_string(level.size()) + " ranks");
  for (std::size_t rank = 0; rank < domains.front().size(); ++rank)
    for (auto const& level : domains) domains_.push_back(level[rank]);
  find_groups();
}

rank_levels::rank_levels(rank_t ranks, std::vector<rank_t> const& groups) : levels_(groups.size()) {
  if (levels_ == 0 || ranks == 0) throw schedule_error("levels need at least one level and one rank");
  for (rank_t const group : groups)
    if (group == 0) throw schedule_error("a level of groups of 0 ranks joins no ranks: leave it out");
  for (rank_t rank = 0; rank < ranks; ++rank)
    for (rank_t const group : groups) domains_.push_back(rank / group);
  find_groups();
}

std::vector<rank_t> rank_levels::sizes(std::size_t level) const {
  std::vector<rank_t> found;
  std::vector<unsigned> seen;
  for (rank_t r = 0; r < ranks(); ++r) {
    if (r > 0 && domain(r, level) == domain(r - 1, level)) {
      ++found.back();
      continue;
    }
    found.push_back(1);
    seen.push_back(domain(r, level));
  }
  std::ranges::sort(seen);
  if (std::ranges::adjacent_find(seen) != seen.end()) found.clear();
  return found;
}

void rank_levels::find_groups() {
  rank_t inner = 1;
  for (std::size_t l = 0; l < levels_; ++l) {
    auto const all = l + 1 < levels_ ? sizes(l) : std::vector{ranks()};
    bool const is_even = !all.empty() && std::ranges::count(all, all.front()) == std::ssize(all);
    groups_.push_back(is_even && all.front() % inner == 0 ? all.front() : 0);
    if (groups_.back() != 0 && groups_.back() < ranks()) inner = groups_.back();
  }
}

}  // namespace coset::schedule
