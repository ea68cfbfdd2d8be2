// SPDX-License-Identifier: Apache-2.0
// What all OpenMP rivals share: the family's name, and bursts played inside the region.
#pragma once

#include "bench/collectives/omp/openmp_region.hpp"
#include "command/measure/harness/stage.hpp"

namespace coset::measure {

class omp_contestant : public contestant {
 public:
  omp_contestant(std::string name, std::shared_ptr<openmp_region> region)
      : contestant("omp", std::move(name)), region_(std::move(region)) {}

 protected:
  /// `reduce(rank, k)` is called by every thread of the region and returns where that rank finds the result.
  template <class Reduce>
  burst_result play(workload const& work, burst_order const& order, Reduce&& reduce) {
    stage stage(work, order);
    region_->run([&](rank_t rank) { stage.play_rank(rank, [&](std::size_t k) { return reduce(rank, k); }); });
    return stage.result();
  }

 private:
  std::shared_ptr<openmp_region> region_;
};

}  // namespace coset::measure
