// SPDX-License-Identifier: Apache-2.0
// Plain threads and std::barrier.
#include <barrier>

#include "bench/collectives/by_hand.hpp"
#include "bench/collectives/factories.hpp"
#include "command/measure/harness/stage.hpp"
#include "command/measure/machine/parking.hpp"

namespace coset::measure {
namespace {

class std_barrier final : public contestant {
 public:
  std_barrier(std::vector<unsigned> const& processors, std::string name)
      : contestant("std", std::move(name)), crew_(processors), barrier_(crew_.size()) {}

  burst_result burst(workload const& work, burst_order const& order) override {
    stage stage(work, order);
    by_hand const hand(work);
    crew_.run([&](rank_t rank) {
      stage.play_rank(rank, [&](std::size_t) { return hand.act(rank, [this] { barrier_.arrive_and_wait(); }); });
    });
    return stage.result();
  }

 private:
  crew crew_;
  std::barrier<> barrier_;
};

}  // namespace

std::unique_ptr<contestant> make_std_barrier(std::vector<unsigned> const& processors) {
  return std::make_unique<std_barrier>(processors, "std::barrier");
}

}  // namespace coset::measure
