// SPDX-License-Identifier: Apache-2.0
// oneTBB programs: a parallel_for for each step, with arrays in enumerable_thread_specific or a reducer.
#include <oneapi/tbb/enumerable_thread_specific.h>

#include "bench/collectives/tbb_arena.hpp"
#include "bench/reducer/play.hpp"
#include "coset/tbb.hpp"

namespace coset::bench {
namespace {

class tbb_stepping : public stepping {
 public:
  tbb_stepping(std::string family, std::string name, std::shared_ptr<tbb_arena> arena)
      : stepping(std::move(family), std::move(name)), arena_(std::move(arena)) {}

 protected:
  using range = ::tbb::blocked_range<std::size_t>;

  /// step() inside the arena.
  template <class Step>
  std::vector<double> in_arena(burst_order const& order, Step step) {
    std::vector<double> samples;
    arena_->run([&] { samples = play_steps(order, true, step); });
    return samples;
  }

  /// body(range of updates) by all threads.
  template <class Body>
  void for_updates(Body const& body) const {
    ::tbb::parallel_for(range(0, work().index.size()), body, ::tbb::static_partitioner());
  }

 private:
  std::shared_ptr<tbb_arena> arena_;
};

class coset_in_tasks final : public tbb_stepping {
 public:
  explicit coset_in_tasks(std::shared_ptr<tbb_arena> arena) : tbb_stepping("coset", "coset tbb", std::move(arena)) {}

 private:
  std::vector<double> steps(burst_order const& order, std::vector<double>& array) override {
    tbb::reducer<double> sum(array.size());
    auto const* const index = work().index.data();
    return in_arena(order, [&] {
      for_updates([&](range const& part) {
        auto const mine = sum.local();
        for (std::size_t u = part.begin(); u != part.end(); ++u) mine[index[u]] += 1;
      });
      sum.combine_into(array);
    });
  }
};

class ets_in_tasks final : public tbb_stepping {
 public:
  explicit ets_in_tasks(std::shared_ptr<tbb_arena> arena) : tbb_stepping("tbb", "tbb ets", std::move(arena)) {}

 private:
  std::vector<double> steps(burst_order const& order, std::vector<double>& array) override {
    ::tbb::enumerable_thread_specific<std::vector<double>> copies(
        [count = array.size()] { return std::vector<double>(count); });
    auto const* const index = work().index.data();
    return in_arena(order, [&] {
      for_updates([&](range const& part) {
        auto& mine = copies.local();
        for (std::size_t u = part.begin(); u != part.end(); ++u) mine[index[u]] += 1;
      });
      std::vector<double*> all;
      for (auto& copy : copies) all.push_back(copy.data());
      ::tbb::parallel_for(
          range(0, array.size(), grain), [&](range const& part) { take(array.data(), all, part); },
          ::tbb::static_partitioner());
    });
  }

  /// Adds all copies and zeroes them for the next step, while they are in the cache.
  static void take(double* to, std::vector<double*> const& all, range const& part) {
    for (double* const from : all) {
      for (std::size_t i = part.begin(); i < part.end(); ++i) {
        to[i] += from[i];
        from[i] = 0;
      }
    }
  }

  static constexpr std::size_t grain = 2048;
};

}  // namespace

steppers make_tbb_steppers(std::vector<unsigned> const& processors) {
  auto const arena = std::make_shared<tbb_arena>(processors);
  steppers all;
  all.push_back(std::make_unique<coset_in_tasks>(arena));
  all.push_back(std::make_unique<ets_in_tasks>(arena));
  return all;
}

}  // namespace coset::bench
