// SPDX-License-Identifier: Apache-2.0
// Domains laid out rank by rank.
#include "schedule/model/rank_levels.hpp"

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
}

rank_levels::rank_levels(rank_t ranks, std::vector<rank_t> const& groups) : levels_(groups.size()) {
  if (levels_ == 0 || ranks == 0) throw schedule_error("levels need at least one level and one rank");
  for (rank_t const group : groups)
    if (group == 0) throw schedule_error("a level of groups of 0 ranks joins no ranks: leave it out");
  for (rank_t rank = 0; rank < ranks; ++rank)
    for (rank_t const group : groups) domains_.push_back(rank / group);
}

}  // namespace coset::schedule
