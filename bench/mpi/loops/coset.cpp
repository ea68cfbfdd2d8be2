// SPDX-License-Identifier: Apache-2.0
// Ways of coset: the one call over all threads of all processes, its reducer with MPI, its verbs.
#include <coset/coset.hpp>
#include <coset/mpi.hpp>
#include <coset/omp.hpp>

#include "bench/mpi/loops/way.hpp"

namespace coset::measure {

class coset_threads {
 public:
  explicit coset_threads(std::size_t threads)
      : threads_(team::adopt(static_cast<rank_t>(threads))), all_(MPI_COMM_WORLD, *threads_) {}

  mpi::team& all() { return all_; }
  mpi::team const& all() const { return all_; }

 private:
  std::unique_ptr<team> threads_;
  mpi::team all_;
};

std::shared_ptr<coset_threads> make_coset_threads(std::size_t threads) {
  return std::make_shared<coset_threads>(threads);
}
std::string describe(coset_threads const& of) { return of.all().describe(); }

namespace {

/// This thread's updates, into what a reduction gives it.
template <class Sum>
void add_to_local(loop_cell const& cell, double weight, Sum& sum) {
  auto const mine = sum.local();
  if constexpr (requires { mine.data(); })
    cell.add(this_thread(), weight, array_places{mine.data()});
  else
    cell.add(this_thread(), weight, array_places{std::get<0>(mine).data(), std::get<1>(mine).data()});
}

template <class Sum>
class one_call final : public hybrid_way {
 public:
  one_call(loop_cell const& cell, std::shared_ptr<coset_threads> threads, Sum sum)
      : hybrid_way("coset", cell), threads_(std::move(threads)), sum_(std::move(sum)) {}

  void cycle(double weight) override {
#pragma omp parallel
    {
      add_to_local(cell_, weight, sum_);
      sum_.combine(combining::assign);
    }
  }

 private:
  std::shared_ptr<coset_threads> threads_;
  Sum sum_;
};

/// Thread 0 adds to the total itself, and the sum of all totals replaces it.
template <class Sum>
class one_call_in_place final : public hybrid_way {
 public:
  one_call_in_place(loop_cell const& cell, std::shared_ptr<coset_threads> threads, Sum sum)
      : hybrid_way("coset in place", cell), threads_(std::move(threads)), sum_(std::move(sum)) {}

  void cycle(double weight) override {
#pragma omp parallel
    {
      if (this_thread() == 0) clear_range(cell_.total(), {0, cell_.length()});
      add_to_local(cell_, weight, sum_);
      sum_.combine();
    }
  }

 private:
  std::shared_ptr<coset_threads> threads_;
  Sum sum_;
};

template <class Sum>
class reducer_and_master final : public hybrid_way {
 public:
  reducer_and_master(loop_cell const& cell, Sum sum) : hybrid_way("coset reducer + MPI", cell), sum_(std::move(sum)) {}

  void cycle(double weight) override {
#pragma omp parallel
    {
      add_to_local(cell_, weight, sum_);
      sum_.combine(omp::nowait, combining::assign);
    }
    sum_in_place(cell_.total(), cell_.length(), MPI_COMM_WORLD);
  }

 private:
  Sum sum_;
};

/// Every thread has an array of its own before and after.
class private_totals final : public hybrid_way {
 public:
  private_totals(loop_cell const& cell, std::shared_ptr<coset_threads> threads)
      : hybrid_way("coset allreduce", cell), threads_(std::move(threads)), arrays_(cell.threads(), cell.length()) {}

  void cycle(double weight) override {
#pragma omp parallel
    {
      std::size_t const thread = this_thread();
      std::span<double> const mine(arrays_.of(thread), cell_.length());
      clear_range(mine.data(), {0, mine.size()});
      cell_.add(thread, weight, mine.data());
      auto me = threads_->all().join(static_cast<rank_t>(thread));
      allreduce(*me, mine);
    }
  }

  std::vector<double const*> totals() const override {
    std::vector<double const*> all;
    for (std::size_t t = 0; t < cell_.threads(); ++t) all.push_back(arrays_.of(t));
    return all;
  }

 private:
  std::shared_ptr<coset_threads> threads_;
  private_copies arrays_;
};

/// Every thread has a copy of its own, every process a total.
class shared_total final : public hybrid_way {
 public:
  shared_total(loop_cell const& cell, std::shared_ptr<coset_threads> threads)
      : hybrid_way("coset reduce_shared", cell), threads_(std::move(threads)) {}

  void cycle(double weight) override {
#pragma omp parallel
    {
      std::size_t const thread = this_thread();
      std::span<double> const mine(cell_.copies().of(thread), cell_.length());
      cell_.add(thread, weight, mine.data());
      auto me = threads_->all().join(static_cast<rank_t>(thread));
      reduce_shared(*me, mine, std::span(cell_.total(), cell_.length()));
      clear_range(mine.data(), {0, mine.size()});
    }
  }

 private:
  std::shared_ptr<coset_threads> threads_;
};

/// A way with a reduction, whose type follows from the targets.
template <template <class> class Way, class Sum, class... Threads>
void add_way(hybrid_ways& ways, loop_cell const& cell, Sum sum, Threads const&... threads) {
  ways.push_back(std::make_unique<Way<Sum>>(cell, threads..., std::move(sum)));
}
/// All ways with a reduction of these targets.
template <class... To>
void add_reductions(hybrid_ways& ways, loop_cell const& cell, std::shared_ptr<coset_threads> const& threads,
                    To const&... to) {
  add_way<one_call>(ways, cell, omp::reduction(threads->all(), to...), threads);
  add_way<one_call_in_place>(ways, cell, omp::reduction(omp::in_place, threads->all(), to...), threads);
  add_way<reducer_and_master>(ways, cell, omp::reduction(to...));
}

}  // namespace

void add_coset(hybrid_ways& ways, loop_cell const& cell, std::shared_ptr<coset_threads> const& threads) {
  auto const to = cell.targets();
  if (to.size() == 1)
    add_reductions(ways, cell, threads, to[0]);
  else
    add_reductions(ways, cell, threads, to[0], to[1]);
  ways.push_back(std::make_unique<private_totals>(cell, threads));
  ways.push_back(std::make_unique<shared_total>(cell, threads));
}

}  // namespace coset::measure
