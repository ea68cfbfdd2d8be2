// SPDX-License-Identifier: Apache-2.0
// oneTBB programs: a parallel_for for each step, with arrays in enumerable_thread_specific or a reducer.
#include <oneapi/tbb/enumerable_thread_specific.h>

#include "bench/collectives/tbb/tbb_arena.hpp"
#include "bench/reducer/play.hpp"
#include "coset/tbb.hpp"

namespace coset::measure {
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
    if (work().is_sparse()) return by(tbb::sparse_reducer<double>(array.size()), order, array);
    return by(tbb::reducer<double>(array.size()), order, array);
  }

  template <class Sum>
  std::vector<double> by(Sum sum, burst_order const& order, std::vector<double>& array) {
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

/// Arrays in enumerable_thread_specific, which live from step to step.
class ets_in_tasks : public tbb_stepping {
 protected:
  using tbb_stepping::tbb_stepping;
  using copies_of_threads = ::tbb::enumerable_thread_specific<std::vector<double>>;

  /// Adds all copies and zeroes them for the next step.
  virtual void take_all(std::vector<double>& array, copies_of_threads& copies) const = 0;

  static void take(double* to, double* from, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      to[i] += from[i];
      from[i] = 0;
    }
  }

 private:
  std::vector<double> steps(burst_order const& order, std::vector<double>& array) override {
    copies_of_threads copies([count = array.size()] { return std::vector<double>(count); });
    auto const* const index = work().index.data();
    return in_arena(order, [&] {
      for_updates([&](range const& part) {
        auto& mine = copies.local();
        for (std::size_t u = part.begin(); u != part.end(); ++u) mine[index[u]] += 1;
      });
      take_all(array, copies);
    });
  }
};

class ets_combined final : public ets_in_tasks {
 public:
  explicit ets_combined(std::shared_ptr<tbb_arena> arena) : ets_in_tasks("tbb", "tbb ets", std::move(arena)) {}

 private:
  void take_all(std::vector<double>& array, copies_of_threads& copies) const override {
    copies.combine_each([&](std::vector<double>& copy) { take(array.data(), copy.data(), 0, array.size()); });
  }
};

class ets_by_hand final : public ets_in_tasks {
 public:
  explicit ets_by_hand(std::shared_ptr<tbb_arena> arena) : ets_in_tasks("tbb", "tbb ets by hand", std::move(arena)) {}

 private:
  void take_all(std::vector<double>& array, copies_of_threads& copies) const override {
    std::vector<double*> all;
    for (auto& copy : copies) all.push_back(copy.data());
    ::tbb::parallel_for(
        range(0, array.size(), grain),
        [&](range const& part) {
          for (double* const from : all) take(array.data(), from, part.begin(), part.end());
        },
        ::tbb::static_partitioner());
  }

  static constexpr std::size_t grain = 2048;
};

}  // namespace

steppers make_tbb_steppers(std::vector<unsigned> const& processors) {
  auto const arena = std::make_shared<tbb_arena>(processors);
  steppers all;
  all.push_back(std::make_unique<coset_in_tasks>(arena));
  all.push_back(std::make_unique<ets_combined>(arena));
  all.push_back(std::make_unique<ets_by_hand>(arena));
  return all;
}

}  // namespace coset::measure
