// SPDX-License-Identifier: Apache-2.0
// Nothing but one flag round, each rank with one line. No floor: whoever takes two lines in turn is sometimes faster.
#include "command/measure/harness/stage.hpp"
#include "command/measure/machine/flag_barrier.hpp"
#include "command/measure/machine/parking.hpp"

namespace coset::measure {
namespace {

class flag_round final : public contestant {
 public:
  explicit flag_round(std::vector<unsigned> const& processors)
      : contestant("reference", "flag round"), crew_(processors), barrier_(crew_.size(), looks_among(processors)) {}

  // An empty workload: the loop around the barrier stays the same, its writing and reading have nothing to do.
  burst_result burst(workload const& work, burst_order const& order) override {
    problem nothing = work.shape();
    nothing.count = 0;
    workload const empty(nothing);
    stage stage(empty, order);
    crew_.run([&](rank_t rank) {
      stage.play_rank(rank, [&](std::size_t) {
        barrier_.arrive_and_wait(rank);
        return empty.output(rank);
      });
    });
    return stage.result();
  }

 private:
  crew crew_;
  flag_barrier barrier_;
};

}  // namespace

std::unique_ptr<contestant> make_flag_round(std::vector<unsigned> const& processors) {
  return std::make_unique<flag_round>(processors);
}

}  // namespace coset::measure
