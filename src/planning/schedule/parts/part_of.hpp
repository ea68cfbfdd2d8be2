// SPDX-License-Identifier: Apache-2.0
// One host's part of schedules that exist for all ranks, or once for all.
#pragma once

#include <span>
#include <vector>

#include "planning/schedule/groups/symmetric.hpp"
#include "planning/schedule/parts/part.hpp"

namespace coset::schedule {

/// What is known about the whole beside the schedule.
struct part_options {
  /// [rank]: its input is itself the result of a fold; none: inputs are what callers give.
  std::span<char const> inputs_are_folds = {};
  /// What ranks end with is folded further by somebody. Of schedules for all ranks, which scans are.
  bool results_are_folded = false;
  /// [step]: all its folds are of one value of each host, which nobody sends: each host has its own as the only source.
  std::span<char const> combined = {};
};

/// The part of the ranks hosts[host] … hosts[host + 1] − 1. Cost: that of the whole schedule.
part part_of(schedule const& whole, std::span<rank_t const> hosts, std::size_t host, part_options const& = {});

/// Where every rank is a host of its own, without writing out the whole. Cost: as view().
part part_of(symmetric_schedule const&, rank_t rank, part_options const& = {});

}  // namespace coset::schedule
