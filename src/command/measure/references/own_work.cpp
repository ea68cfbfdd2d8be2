// SPDX-License-Identifier: Apache-2.0
// What is left of a cycle without its collective: each rank rewrites its input and reads a result that it has already, in an
// array of its own, where a shared result would be, too.
#include "command/measure/harness/stage.hpp"
#include "command/measure/machine/parking.hpp"

namespace coset::measure {
namespace {

class own_work final : public contestant {
 public:
  explicit own_work(std::vector<unsigned> const& processors) : contestant("reference", "own work"), crew_(processors) {}

  burst_result burst(workload const& work, burst_order const& order) override {
    stage stage(work, order);
    crew_.run([&](rank_t rank) { stage.play_work(rank); });
    return stage.result();
  }

 private:
  crew crew_;
};

}  // namespace

std::unique_ptr<contestant> make_own_work(std::vector<unsigned> const& processors) {
  return std::make_unique<own_work>(processors);
}

}  // namespace coset::measure
