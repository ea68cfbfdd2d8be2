// SPDX-License-Identifier: Apache-2.0
// OpenMP's own array reduction, on a worksharing loop inside the open region: no region start is timed.
#include <algorithm>
#include <array>

#include "bench/collectives/factories.hpp"
#include "bench/collectives/omp/omp_contestant.hpp"
#include "command/measure/machine/vector_levels.hpp"
#include "command/measure/references/operators.hpp"

namespace coset::measure {
namespace {

/// Every thread of the region folds its input into `total`. A declared reduction compiles to what + : total[:count]
/// does, for all four operations at once.
template <class T, class Op>
struct reduction_body {
  [[gnu::always_inline]] static void run(void* to, void const* const* from, rank_t ranks, std::size_t count) {
#pragma omp declare reduction(fold:T                                  \
                              : omp_out = Op::apply(omp_out, omp_in)) \
    initializer(omp_priv = Op::template identity <T>())
    T* total = static_cast<T*>(to);
#pragma omp for schedule(static, 1) reduction(fold : total[:count])
    for (rank_t r = 0; r < ranks; ++r) {
      T const* const in = static_cast<T const*>(from[r]);
#pragma omp simd
      for (std::size_t i = 0; i < count; ++i) total[i] = Op::apply(total[i], in[i]);
    }
  }
};

using reduce_function = void (*)(void* to, void const* const* from, rank_t ranks, std::size_t count);

struct kit {
  reduce_function reduce;
  void (*clear)(void* total, std::size_t count);
};

kit kit_for(problem const& p) {
  return visit_types(p.element, p.operation, []<class T, class Op>() {
    return kit{
        vector_levels<reduction_body<T, Op>, void(void*, void const* const*, rank_t, std::size_t)>::best(),
        [](void* total, std::size_t count) { std::fill_n(static_cast<T*>(total), count, Op::template identity<T>()); }};
  });
}

class omp_reduction final : public omp_contestant {
 public:
  explicit omp_reduction(std::shared_ptr<openmp_region> region) : omp_contestant("omp reduction", std::move(region)) {}

  std::string declines(problem const& p) const override {
    return p.bytes() > 1024 * 1024 ? "its private copies live on the threads' stacks: up to 1 MiB only" : "";
  }

  // The clause adds to what `total` holds, so somebody has to clear it. Three totals in turn let thread 0 clear the
  // next one during this reduction: the readers of that one passed the last barrier, this barrier protects its writers.
  burst_result burst(workload const& work, burst_order const& order) override {
    kit const typed = kit_for(work.shape());
    std::size_t const count = work.shape().count;
    rank_t const ranks = work.shape().ranks;
    std::vector<void const*> inputs;
    for (rank_t r = 0; r < ranks; ++r) inputs.push_back(work.input(r));
    std::array<std::vector<std::byte>, 3> totals;
    for (auto& total : totals) {
      total.resize(work.shape().bytes());
      typed.clear(total.data(), count);
    }
    return play(work, order, [&](rank_t rank, std::size_t k) {
      if (rank == 0) typed.clear(totals[(k + 1) % 3].data(), count);
      auto& total = totals[k % 3];
      typed.reduce(total.data(), inputs.data(), ranks, count);
      return total.data();
    });
  }
};

}  // namespace

std::unique_ptr<contestant> make_omp_reduction(std::shared_ptr<openmp_region> region) {
  return std::make_unique<omp_reduction>(std::move(region));
}

}  // namespace coset::measure
