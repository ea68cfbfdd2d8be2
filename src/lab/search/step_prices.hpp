// SPDX-License-Identifier: Apache-2.0
// What one step of a chain takes: all that a search has to know of a machine or network.
#pragma once

#include <memory>
#include <vector>

#include "planning/schedule/groups/fold.hpp"
#include "planning/schedule/model/cost.hpp"

namespace coset::schedule {

/// Throws schedule_error if these are more ranks than a search can bear.
void require_searchable(rank_t ranks);

/// Seconds that the step of one shift takes, by the number of blocks that it moves: there, in the reduction, and back. Blocks
/// are the P-th parts of a vector of so many bytes. A shift is priced when it is first asked for, which takes what counting
/// two steps of all ranks does. For one thread.
class step_prices {
 public:
  /// As counts of the whole schedule price it. Throws schedule_error if there are more ranks than a search can bear, or another
  /// number of them on the machine.
  step_prices(group const&, std::shared_ptr<machine const> on, double bytes);

  group const& ranks() const { return ranks_; }
  double seconds(element shift, rank_t blocks) const { return row_of(shift)[blocks]; }
  /// A step costs at least fixed + slope · blocks. Half of what is fixed is for the way there.
  double fixed(element shift) const { return seconds(shift, 0); }
  double slope(element shift) const { return seconds(shift, 1) - seconds(shift, 0); }

  /// A step there and back, of several shifts at once.
  double seconds(std::vector<transfer> const& step) const;
  /// A whole schedule.
  double seconds(schedule const& whole) const { return counts(whole, *on_).seconds(bytes_); }

 private:
  std::vector<double> const& row_of(element shift) const;

  group ranks_;
  std::shared_ptr<machine const> on_;
  double bytes_;
  mutable std::vector<std::vector<double>> rows_;  // [shift][blocks], convex in the blocks; empty: nobody has asked
};

}  // namespace coset::schedule
