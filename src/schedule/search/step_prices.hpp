// SPDX-License-Identifier: Apache-2.0
// What one step of a chain takes: all that a search has to know of a machine or network.
#pragma once

#include <vector>

#include "schedule/groups/group.hpp"
#include "schedule/model/cost.hpp"

namespace coset::schedule {

/// Ranks on a ring or torus: neighbours along each dimension are joined by cables, both ways at once, and the ends, too.
/// Messages go the shorter way along one dimension after the other; half each way where both are as long.
struct torus_network {
  std::vector<rank_t> dims;     ///< ranks along each dimension, fastest first
  double latency = 0;           ///< alpha, per step
  double per_hop = 0;           ///< and for every cable on the longest way
  double per_byte = 0;          ///< beta, of the busiest cable in its busier direction
  double combine_per_byte = 0;  ///< gamma
};

/// Throws schedule_error if these are more ranks than a search can bear.
void require_searchable(rank_t ranks);

/// Seconds that the step of one shift takes, by the number of blocks that it moves: there, in the reduction, and back. Blocks
/// are the P-th parts of a vector of so many bytes.
class step_prices {
 public:
  /// As counts of the whole schedule price it.
  /// Throws schedule_error if there are more ranks than a search can bear.
  step_prices(group const&, rank_levels const&, cost_model const&, double bytes);
  /// Throws schedule_error, too, if the dimensions do not make up the ranks.
  step_prices(group const&, torus_network const&, double bytes);

  group const& ranks() const { return ranks_; }
  double seconds(element shift, rank_t blocks) const { return seconds_[shift * std::size_t{ranks_.order()} + blocks]; }
  /// A step costs at least fixed + slope · blocks.
  double fixed(element shift) const { return seconds(shift, 0); }
  double slope(element shift) const { return seconds(shift, 1) - seconds(shift, 0); }

 private:
  step_prices(group const&);
  double& at(element shift, rank_t blocks) { return seconds_[shift * std::size_t{ranks_.order()} + blocks]; }

  group ranks_;
  std::vector<double> seconds_;  // [shift][blocks], convex in the blocks
};

}  // namespace coset::schedule
