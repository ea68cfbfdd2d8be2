// SPDX-License-Identifier: Apache-2.0
// oneTBB, enumerable_thread_specific: each thread folds what it is given into its own array; arrays are combined after.
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/enumerable_thread_specific.h>

#include "bench/collectives/factories.hpp"
#include "bench/collectives/tbb/tbb_arena.hpp"
#include "command/measure/harness/stage.hpp"
#include "command/measure/references/fold.hpp"

namespace coset::measure {
namespace {

/// A thread's array, and whether it holds anything in this iteration.
struct partial {
  std::vector<std::byte> items;
  bool empty = true;
};

class verb {
 public:
  verb(workload const& work, tbb_arena const& arena)
      : work_(work),
        arena_(arena),
        fold_(fold_for(work.shape().element, work.shape().operation)),
        partials_([bytes = work.shape().bytes()] {
          return partial{std::vector<std::byte>(bytes), true};
        }) {}

  template <class Prepare>
  std::byte const* reduce(Prepare&& prepare) {
    arena_.on_all_ranks([&](rank_t rank) {
      prepare(rank);
      auto& mine = partials_.local();
      void const* const sources[] = {mine.items.data(), work_.input(rank)};
      fold_(mine.items.data(), mine.empty ? sources + 1 : sources, mine.empty ? 1 : 2, 0, work_.shape().count);
      mine.empty = false;
    });
    combine();
    return work_.shared_output();
  }

 private:
  // In parallel over items where there are enough of them to share, as parallel_for decides by its grain.
  void combine() {
    std::vector<void const*> filled;
    for (auto& p : partials_) {
      if (!p.empty) filled.push_back(p.items.data());
      p.empty = true;
    }
    tbb::parallel_for(
        tbb::blocked_range<std::size_t>(0, work_.shape().count, grain),
        [&](auto const& range) {
          fold_(work_.shared_output(), filled.data(), static_cast<rank_t>(filled.size()), range.begin(), range.end());
        },
        tbb::static_partitioner());
  }

  static constexpr std::size_t grain = 1024;

  workload const& work_;
  tbb_arena const& arena_;
  fold_function fold_;
  tbb::enumerable_thread_specific<partial> partials_;
};

class tbb_ets final : public contestant {
 public:
  explicit tbb_ets(std::shared_ptr<tbb_arena> arena) : contestant("tbb", "tbb ets"), arena_(std::move(arena)) {}

  burst_result burst(workload const& work, burst_order const& order) override {
    stage stage(work, order);
    verb verb(work, *arena_);
    arena_->run([&] {
      stage.play_forks([&](auto const& body) { arena_->on_all_ranks(body); },
                       [&](std::size_t, auto const& prepare) { return verb.reduce(prepare); });
    });
    return stage.result();
  }

 private:
  std::shared_ptr<tbb_arena> arena_;
};

}  // namespace

std::unique_ptr<contestant> make_tbb_ets(std::shared_ptr<tbb_arena> arena) {
  return std::make_unique<tbb_ets>(std::move(arena));
}

}  // namespace coset::measure
