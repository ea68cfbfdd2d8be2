// SPDX-License-Identifier: Apache-2.0
// Reductions of OpenMP regions, whose threads are a program's: what the runtime tells them is told here.
#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "coset/omp.hpp"
#include "memory/scenarios/explored_team.hpp"
#include "memory/scenarios/reduced_array.hpp"
#include "memory/scenarios/scenarios.hpp"
#include "reducer/core.hpp"

namespace {

std::atomic<int> at_barrier, rounds;
std::atomic<int> singles;        ///< that some thread has taken
std::array<int, 2> singles_met;  ///< [thread] so far

}  // namespace

// NOLINTBEGIN: the names are OpenMP's and the compiler's. Runtimes differ in whether their functions are noexcept.
extern "C" {
int omp_get_thread_num() noexcept(noexcept(omp_get_thread_num())) {
  return static_cast<int>(coset::memory_test::number_of_this_thread());
}
int omp_get_num_threads() noexcept(noexcept(omp_get_num_threads())) { return 2; }
int omp_get_max_threads() noexcept(noexcept(omp_get_max_threads())) { return 2; }
int omp_get_level() noexcept(noexcept(omp_get_level())) { return 1; }
int omp_in_parallel() noexcept(noexcept(omp_in_parallel())) { return 1; }

/// Orders nothing, as OpenMP promises nothing of `single nowait`.
bool GOMP_single_start() {
  int met = singles_met[coset::memory_test::number_of_this_thread()]++;
  return singles.compare_exchange_strong(met, met + 1, std::memory_order_relaxed);
}
void GOMP_barrier() {
  int const round = rounds.load(std::memory_order_relaxed);
  if (at_barrier.fetch_add(1, std::memory_order_acq_rel) == 1) {
    at_barrier.store(0, std::memory_order_relaxed);
    rounds.store(round + 1, std::memory_order_release);
  }
  while (rounds.load(std::memory_order_acquire) == round) {
  }
}
}
// NOLINTEND

namespace coset::memory_test {
namespace {

struct region {
  static constexpr std::size_t count = 4;
  std::shared_ptr<detail::reducer_core> core = detail::make_reducer({sums(count)});
  std::array<long, count> into{};
  std::array<long*, 2> copies{};  ///< [thread]

  region() { detail::share_processors(2); }  // asked for once
  void begin() {
    into.fill(0);
    detail::reset(*core);
    std::destroy_at(&core->arrivals());  // which goes on counting rounds, and no execution may differ from the others
    std::construct_at(&core->arrivals(), *core);
    for (std::uint32_t t : {0u, 1u}) copies[t] = reinterpret_cast<long*>(detail::copy_numbered(*core, t).data);
    at_barrier = rounds = singles = 0;
    singles_met.fill(0);
  }
};

/// A small array: the last thread to come folds what all have added to their copies, and nobody waits for it.
void reduce_twice(region& with, std::size_t thread) {
  for (long turn = 1; turn <= 2; ++turn) {
    for (std::size_t k = 0; k < region::count; ++k) ++with.copies[thread][k];
    void* const to = with.into.data();
    omp::region_room::folds::combine(omp::nowait, *with.core, &to, combining::add);
    GOMP_barrier();
    for (long const each : with.into) expect(each == 2 * turn, "a wrong sum");
    GOMP_barrier();
  }
}

}  // namespace

std::vector<scenario> openmp_regions() {
  return {{"OpenMP regions", [] {
             auto const here = std::make_shared<region>();
             return [=] {
               here->begin();
               program made;
               for (std::size_t t : {0u, 1u}) made.threads.push_back([=] { reduce_twice(*here, t); });
               return made;
             };
           }}};
}

}  // namespace coset::memory_test
