// SPDX-License-Identifier: Apache-2.0
// OpenMP programs: a region for each step, or one region around the loop over
// steps; with OpenMP's own reduction, coset's, or private arrays by hand.
#include <omp.h>

#include <memory>

#include "bench/collectives/omp/openmp_threads.hpp"
#include "bench/reducer/play.hpp"
#include "coset/omp.hpp"

namespace coset::measure {
namespace {

class openmp_stepping : public stepping {
 public:
  openmp_stepping(std::string family, std::string name, std::shared_ptr<openmp_threads> threads)
      : stepping(std::move(family), std::move(name)), threads_(std::move(threads)) {}

 protected:
  int threads() const { return threads_->threads(); }
  std::uint32_t const* index() const { return work().index.data(); }
  std::size_t updates() const { return work().index.size(); }

  /// What `steps()` of the host, the thread that opens all regions, returns. Reductions live there as well: what they
  /// open regions for in the end must not make OpenMP have a second set of threads.
  template <class Steps>
  std::vector<double> on_host(Steps steps) {
    std::vector<double> samples;
    threads_->run([&] { samples = steps(); });
    return samples;
  }

  /// step() on all threads of one region.
  template <class Step>
  std::vector<double> in_region(burst_order const& order, Step step) {
    std::vector<double> samples;
#pragma omp parallel num_threads(threads())
    {
      bool const first = omp_get_thread_num() == 0;
      auto found = play_steps(order, first, step);
      if (first) samples = std::move(found);
    }
    return samples;
  }

 private:
  std::shared_ptr<openmp_threads> threads_;
};

class coset_with_regions final : public openmp_stepping {
 public:
  explicit coset_with_regions(std::shared_ptr<openmp_threads> threads)
      : openmp_stepping("coset", "coset omp", std::move(threads)) {}

 private:
  std::vector<double> steps(burst_order const& order, std::vector<double>& array) override {
    return on_host([&] {
      return work().is_sparse() ? by(omp::sparse_reduction(std::span(array)), order) : by(omp::reduction(array), order);
    });
  }

  template <class Sum>
  std::vector<double> by(Sum sum, burst_order const& order) {
    return play_steps(order, true, [&, index = index(), updates = updates()] {
#pragma omp parallel num_threads(threads())
      {
        auto const mine = sum.local();
#pragma omp for schedule(static) nowait
        for (std::size_t u = 0; u < updates; ++u) mine[index[u]] += 1;
        sum.combine(omp::nowait);
      }
    });
  }
};

class reduction_with_regions final : public openmp_stepping {
 public:
  explicit reduction_with_regions(std::shared_ptr<openmp_threads> threads)
      : openmp_stepping("omp", "omp parallel reduction", std::move(threads)) {}

 private:
  std::vector<double> steps(burst_order const& order, std::vector<double>& array) override {
    double* const to = array.data();
    std::size_t const count = array.size();
    return on_host([&, index = index(), updates = updates()] {
      return play_steps(order, true, [&] {
#pragma omp parallel for schedule(static) num_threads(threads()) reduction(+ : to[:count])
        for (std::size_t u = 0; u < updates; ++u) to[index[u]] += 1;
      });
    });
  }
};

class by_hand_with_regions final : public openmp_stepping {
 public:
  explicit by_hand_with_regions(std::shared_ptr<openmp_threads> threads)
      : openmp_stepping("omp", "omp parallel by hand", std::move(threads)) {}

 private:
  std::vector<double> steps(burst_order const& order, std::vector<double>& array) override {
    double* const to = array.data();
    std::size_t const count = array.size();
    auto const p = static_cast<std::size_t>(threads());
    std::vector<std::unique_ptr<double[]>> copies(p);
    return on_host([&, index = index(), updates = updates()] {
      return play_steps(order, true, [&] {
#pragma omp parallel num_threads(threads())
        {
          auto& own = copies[static_cast<std::size_t>(omp_get_thread_num())];
          if (!own) own = std::make_unique<double[]>(count);  // zeroed here; later by those who fold
          double* const mine = own.get();
#pragma omp for schedule(static)
          for (std::size_t u = 0; u < updates; ++u) mine[index[u]] += 1;
          auto const t = static_cast<std::size_t>(omp_get_thread_num());
          for (std::size_t c = 0; c < p; ++c) {
            double* const from = copies[c].get();
#pragma omp simd
            for (std::size_t i = count * t / p; i < count * (t + 1) / p; ++i) {
              to[i] += from[i];
              from[i] = 0;
            }
          }
        }
      });
    });
  }
};

/// Nothing is private: the way of whoever touches few elements of a long array.
class atomics_with_regions final : public openmp_stepping {
 public:
  explicit atomics_with_regions(std::shared_ptr<openmp_threads> threads)
      : openmp_stepping("omp", "omp parallel atomic", std::move(threads)) {}

 private:
  std::vector<double> steps(burst_order const& order, std::vector<double>& array) override {
    return on_host([&, to = array.data(), index = index(), updates = updates()] {
      return play_steps(order, true, [&] {
#pragma omp parallel for schedule(static) num_threads(threads())
        for (std::size_t u = 0; u < updates; ++u) {
#pragma omp atomic
          to[index[u]] += 1;
        }
      });
    });
  }
};

/// Nothing is shared: every thread looks at all updates and carries out those in its own part of the array, in the
/// order of a serial loop.
class owners_with_regions final : public openmp_stepping {
 public:
  explicit owners_with_regions(std::shared_ptr<openmp_threads> threads)
      : openmp_stepping("omp", "omp parallel by owner", std::move(threads)) {}

 private:
  std::vector<double> steps(burst_order const& order, std::vector<double>& array) override {
    std::size_t const count = array.size();
    return on_host([&, to = array.data(), index = index(), updates = updates()] {
      return play_steps(order, true, [&] {
#pragma omp parallel num_threads(threads())
        {
          auto const t = static_cast<std::size_t>(omp_get_thread_num());
          auto const p = static_cast<std::size_t>(omp_get_num_threads());
          std::size_t const begin = count * t / p, end = count * (t + 1) / p;
          for (std::size_t u = 0; u < updates; ++u)
            if (index[u] >= begin && index[u] < end) to[index[u]] += 1;
        }
      });
    });
  }
};

class coset_in_region final : public openmp_stepping {
 public:
  explicit coset_in_region(std::shared_ptr<openmp_threads> threads)
      : openmp_stepping("coset", "coset omp for", std::move(threads)) {}

 private:
  std::vector<double> steps(burst_order const& order, std::vector<double>& array) override {
    return on_host([&] {
      return work().is_sparse() ? by(omp::sparse_reduction(std::span(array)), order) : by(omp::reduction(array), order);
    });
  }

  template <class Sum>
  std::vector<double> by(Sum sum, burst_order const& order) {
    return in_region(order, [&, index = index(), updates = updates()] {
      auto const mine = sum.local();
#pragma omp for schedule(static) nowait
      for (std::size_t u = 0; u < updates; ++u) mine[index[u]] += 1;
      sum.combine();
    });
  }
};

/// An orphaned worksharing loop reduces what is shared by the whole region.
class reduction_in_region final : public openmp_stepping {
 public:
  explicit reduction_in_region(std::shared_ptr<openmp_threads> threads)
      : openmp_stepping("omp", "omp for reduction", std::move(threads)) {}

 private:
  std::vector<double> steps(burst_order const& order, std::vector<double>& array) override {
    double* to = array.data();
    std::size_t const count = array.size();
    return on_host([&, index = index(), updates = updates()] {
      return in_region(order, [&] {
        double* const shared = to;
        reduce(shared, count, index, updates);
      });
    });
  }

  static void reduce(double* to, std::size_t count, std::uint32_t const* index, std::size_t updates) {
#pragma omp for schedule(static) reduction(+ : to[:count])
    for (std::size_t u = 0; u < updates; ++u) to[index[u]] += 1;
  }
};

}  // namespace

steppers make_openmp_steppers(std::vector<unsigned> const& processors) {
  auto const threads = std::make_shared<openmp_threads>(processors);
  steppers all;
  all.push_back(std::make_unique<coset_with_regions>(threads));
  all.push_back(std::make_unique<reduction_with_regions>(threads));
  all.push_back(std::make_unique<by_hand_with_regions>(threads));
  all.push_back(std::make_unique<atomics_with_regions>(threads));
  all.push_back(std::make_unique<owners_with_regions>(threads));
  all.push_back(std::make_unique<coset_in_region>(threads));
  all.push_back(std::make_unique<reduction_in_region>(threads));
  return all;
}

}  // namespace coset::measure
