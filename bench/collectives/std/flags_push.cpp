// SPDX-License-Identifier: Apache-2.0
// What an expert writes for large arrays: everybody folds its slice of all inputs straight into all outputs.
#include "bench/collectives/factories.hpp"
#include "bench/collectives/push.hpp"
#include "command/measure/harness/stage.hpp"
#include "command/measure/machine/flag_barrier.hpp"
#include "command/measure/machine/parking.hpp"

namespace coset::measure {
namespace {

/// Plain threads that push, between two rounds of flags.
class std_push final : public contestant {
 public:
  explicit std_push(std::vector<unsigned> const& processors)
      : contestant("std", "flags slices"), crew_(processors), barrier_(crew_.size(), looks_among(processors)) {}

  burst_result burst(workload const& work, burst_order const& order) override {
    stage stage(work, order);
    pushed_slices const slices(work, false);
    crew_.run([&](rank_t rank) {
      stage.play_rank(rank, [&](std::size_t) { return slices.reduce(rank, [&] { barrier_.arrive_and_wait(rank); }); });
    });
    return stage.result();
  }

 private:
  crew crew_;
  flag_barrier barrier_;
};

}  // namespace

std::unique_ptr<contestant> make_std_push(std::vector<unsigned> const& processors) {
  return std::make_unique<std_push>(processors);
}

}  // namespace coset::measure
