// SPDX-License-Identifier: Apache-2.0
// The memory traffic of a large allreduce with private results, and nobody waits: what no flags at all would take.
#include "command/measure/harness/stage.hpp"
#include "command/measure/machine/parking.hpp"
#include "command/measure/references/fold.hpp"
#include "command/measure/references/operators.hpp"
#include "coset/detail/reduction.hpp"

namespace coset::measure {
namespace {

class traffic final : public contestant {
 public:
  explicit traffic(std::vector<unsigned> const& processors) : contestant("reference", "traffic"), crew_(processors) {}

  std::string declines(problem const& p) const override {
    if (p.what != verb::allreduce) return "of allreduce only";
    return p.bytes() < 16 * 1024 * 1024 ? "below 16 MiB caches and flags count" : "";
  }

  // Each rank folds its slice of all inputs into all outputs. Inputs are rewritten meanwhile, so results mean nothing.
  burst_result burst(workload const& work, burst_order const& order) override {
    problem const& p = work.shape();
    auto const& folds = *visit_types(p.element, p.operation, []<class T, class Op>() {
      return detail::table_of<T, plus>().streaming_folds;  // any operation moves as much
    });
    stage stage(work, order);
    crew_.run([&](rank_t rank) {
      auto const [begin, end] = slice_of(p.count, p.ranks, rank);
      std::vector<void const*> from;
      std::vector<void*> to;
      for (rank_t r = 0; r < p.ranks; ++r) {
        from.push_back(work.input(r) + begin * p.element_bytes());
        to.push_back(work.output(r) + begin * p.element_bytes());
      }
      stage.play_rank(rank, [&, count = end - begin](std::size_t) {
        folds.for_sources(p.ranks)(nullptr, to.data(), p.ranks, from.data(), p.ranks, count);
        return work.output(rank);
      });
    });
    burst_result made = stage.result();
    made.wrong = 0;
    return made;
  }

 private:
  crew crew_;
};

}  // namespace

std::unique_ptr<contestant> make_traffic(std::vector<unsigned> const& processors) {
  return std::make_unique<traffic>(processors);
}

}  // namespace coset::measure
