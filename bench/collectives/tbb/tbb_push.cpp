// SPDX-License-Identifier: Apache-2.0
// oneTBB, parallel_for over items: whoever folds some stores them into everybody's output.
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include "bench/collectives/factories.hpp"
#include "bench/collectives/push.hpp"
#include "bench/collectives/tbb/tbb_arena.hpp"
#include "command/measure/harness/stage.hpp"

namespace coset::measure {
namespace {

class tbb_push final : public contestant {
 public:
  tbb_push(std::shared_ptr<tbb_arena> arena, bool streams)
      : contestant("tbb", streams ? "tbb push stream" : "tbb push"), arena_(std::move(arena)), streams_(streams) {}

  burst_result burst(workload const& work, burst_order const& order) override {
    stage stage(work, order);
    pushed_slices const slices(work, streams_);
    arena_->run([&] {
      stage.play_forks([&](auto const& body) { arena_->on_all_ranks(body); },
                       [&](std::size_t, auto const& prepare) { return reduce(work, slices, prepare); });
    });
    return stage.result();
  }

 private:
  static constexpr std::size_t grain = 1024;

  template <class Prepare>
  auto reduce(workload const& work, pushed_slices const& slices, Prepare&& prepare) const {
    if constexpr (!std::same_as<std::remove_cvref_t<Prepare>, nothing_to_prepare>) arena_->on_all_ranks(prepare);
    tbb::parallel_for(
        tbb::blocked_range<std::size_t>(0, work.shape().count, grain),
        [&](auto const& range) { slices.push(range.begin(), range.end()); }, tbb::static_partitioner());
    return [&work](rank_t rank) -> std::byte const* { return work.output(rank); };
  }

  std::shared_ptr<tbb_arena> arena_;
  bool const streams_;
};

}  // namespace

std::unique_ptr<contestant> make_tbb_push(std::shared_ptr<tbb_arena> arena) {
  return std::make_unique<tbb_push>(std::move(arena), false);
}
std::unique_ptr<contestant> make_tbb_push_stream(std::shared_ptr<tbb_arena> arena) {
  return std::make_unique<tbb_push>(std::move(arena), true);
}

}  // namespace coset::measure
