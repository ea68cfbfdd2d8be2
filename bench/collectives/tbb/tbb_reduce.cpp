// SPDX-License-Identifier: Apache-2.0
// oneTBB, parallel_reduce over the ranks with an array as its value.
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_reduce.h>

#include "bench/collectives/factories.hpp"
#include "bench/collectives/tbb/tbb_arena.hpp"
#include "command/measure/harness/stage.hpp"
#include "command/measure/references/fold.hpp"

namespace coset::measure {
namespace {

/// The body that parallel_reduce splits and joins; a split one starts without an array.
template <class Prepare>
class summing {
 public:
  summing(workload const& work, fold_function fold, Prepare const& prepare)
      : work_(work), fold_(fold), prepare_(prepare) {}
  summing(summing& other, tbb::split) : summing(other.work_, other.fold_, other.prepare_) {}

  void operator()(tbb::blocked_range<rank_t> const& ranks) {
    for (rank_t rank = ranks.begin(); rank != ranks.end(); ++rank) {
      prepare_(rank);
      take(work_.input(rank));
    }
  }

  void join(summing const& other) { take(other.items_.data()); }

  std::vector<std::byte> const& items() const { return items_; }

 private:
  void take(std::byte const* from) {
    if (items_.empty()) {
      items_.assign(from, from + work_.shape().bytes());
      return;
    }
    void const* const sources[] = {items_.data(), from};
    fold_(items_.data(), sources, 2, 0, work_.shape().count);
  }

  workload const& work_;
  fold_function fold_;
  Prepare const& prepare_;
  std::vector<std::byte> items_;
};

class tbb_reduce final : public contestant {
 public:
  explicit tbb_reduce(std::shared_ptr<tbb_arena> arena) : contestant("tbb", "tbb reduce"), arena_(std::move(arena)) {}

  burst_result burst(workload const& work, burst_order const& order) override {
    stage stage(work, order);
    auto const fold = fold_for(work.shape().element, work.shape().operation);
    std::vector<std::byte> result;
    auto const reduce = [&](std::size_t, auto const& prepare) {
      summing body(work, fold, prepare);
      tbb::parallel_reduce(tbb::blocked_range<rank_t>(0, work.shape().ranks, 1), body, tbb::static_partitioner());
      result = body.items();
      return result.data();
    };
    arena_->run([&] { stage.play_forks([&](auto const& f) { arena_->on_all_ranks(f); }, reduce); });
    return stage.result();
  }

 private:
  std::shared_ptr<tbb_arena> arena_;
};

}  // namespace

std::unique_ptr<contestant> make_tbb_reduce(std::shared_ptr<tbb_arena> arena) {
  return std::make_unique<tbb_reduce>(std::move(arena));
}

}  // namespace coset::measure
