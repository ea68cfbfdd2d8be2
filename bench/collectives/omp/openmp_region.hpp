// SPDX-License-Identifier: Apache-2.0
// One OpenMP parallel region that stays open: bursts run inside it, and its threads sleep in between.
#pragma once

#include <thread>

#include "command/measure/machine/parking.hpp"

namespace coset::measure {

/// With OMP_WAIT_POLICY=active OpenMP's threads spin whenever they wait for a region or at a barrier of one. Kept inside
/// a region and parked, they leave the processors to the other contestants; and no region start is ever timed.
class openmp_region {
 public:
  explicit openmp_region(std::vector<unsigned> const& processors);
  ~openmp_region();

  /// `job(rank)` may contain OpenMP constructs that bind to the region: barrier, for, single.
  void run(std::function<void(rank_t)> const& job) { parking_.run(job); }

 private:
  parking parking_;
  std::jthread host_;
};

}  // namespace coset::measure
