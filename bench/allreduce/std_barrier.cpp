// SPDX-License-Identifier: Apache-2.0
// Plain threads and std::barrier: slices and a private copy of the result.
#include <barrier>

#include "bench/allreduce/factories.hpp"
#include "bench/allreduce/slices.hpp"
#include "bench/parking.hpp"
#include "bench/stage.hpp"

namespace coset::bench {
namespace {

class std_barrier final : public contestant {
 public:
  explicit std_barrier(std::vector<unsigned> const& processors)
      : contestant("std", "std::barrier"), crew_(processors), barrier_(crew_.size()) {}

  burst_result burst(workload const& work, burst_order const& order) override {
    stage stage(work, order);
    shared_slices const slices(work);
    crew_.run([&](rank_t rank) {
      stage.play_rank(
          rank, [&](std::size_t) { return slices.reduce_and_copy(rank, [this] { barrier_.arrive_and_wait(); }); });
    });
    return stage.result();
  }

 private:
  crew crew_;
  std::barrier<> barrier_;
};

}  // namespace

std::unique_ptr<contestant> make_std_barrier(std::vector<unsigned> const& processors) {
  return std::make_unique<std_barrier>(processors);
}

}  // namespace coset::bench
