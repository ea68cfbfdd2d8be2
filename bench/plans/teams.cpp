// SPDX-License-Identifier: Apache-2.0
// Teams that are made, used once and destroyed: those that find an idle one, those that find none, and what a program would
// otherwise start for the same. In a file of its own, as shapes.cpp keeps its teams.
#include <benchmark/benchmark.h>

#include <barrier>
#include <coset/coset.hpp>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

void sum_once(unsigned ranks) {
  coset::team some({.ranks = ranks});
  some.run([](coset::member& me) {
    double const sum = coset::allreduce(me, 1.0);
    benchmark::DoNotOptimize(sum);
  });
}

void team_after_one_alike(benchmark::State& state) {
  auto const ranks = static_cast<unsigned>(state.range(0));
  sum_once(ranks);
  for (auto _ : state) sum_once(ranks);
}

void team_made_anew(benchmark::State& state) {
  setenv("COSET_IDLE", "0", 1);
  for (auto _ : state) sum_once(static_cast<unsigned>(state.range(0)));
  unsetenv("COSET_IDLE");
}

/// Nobody is pinned, and a barrier says nothing of a sum.
void threads_and_a_barrier(benchmark::State& state) {
  auto const ranks = static_cast<std::ptrdiff_t>(state.range(0));
  for (auto _ : state) {
    std::barrier together(ranks);
    std::vector<std::jthread> others;
    for (std::ptrdiff_t r = 1; r < ranks; ++r) others.emplace_back([&] { together.arrive_and_wait(); });
    together.arrive_and_wait();
  }
}

/// Its threads are kept by the runtime.
void openmp_region(benchmark::State& state) {
  for (auto _ : state) {
    double sum = 0;
#pragma omp parallel num_threads(static_cast <int>(state.range(0))) reduction(+ : sum)
    sum += 1;
    benchmark::DoNotOptimize(sum);
  }
}

void each(benchmark::internal::Benchmark* one) {
  one->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMicrosecond)->Iterations(2'000);
}

BENCHMARK(team_after_one_alike)->Apply(each);
BENCHMARK(team_made_anew)->Apply(each);
BENCHMARK(threads_and_a_barrier)->Apply(each);
BENCHMARK(openmp_region)->Apply(each);

}  // namespace
