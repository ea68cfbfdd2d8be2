// SPDX-License-Identifier: Apache-2.0
// A rank alone among threads would wait for them: all ranks call, and rank 0 looks at its clock.
#include <benchmark/benchmark.h>

#include <chrono>
#include <coset/coset.hpp>
#include <vector>

namespace {

/// Allreduces of lengths that `length(k)` says, each timed from a barrier on.
template <class Length>
void measure(benchmark::State& state, Length length) {
  coset::team ranks;
  std::size_t const longest = 32 * 1024;
  ranks.run([&](coset::member& me) {
    std::vector<float> in(longest, 1.0f), out(longest);
    coset::allreduce(me, in, out);  // the arena suffices from here on
    std::size_t k = 0;
    bool more = true;
    while (more) {
      std::size_t const count = length(k++);
      coset::barrier(me);
      auto const begin = std::chrono::steady_clock::now();
      coset::allreduce(me, std::span(in).first(count), std::span(out).first(count));
      std::chrono::duration<double> const spent = std::chrono::steady_clock::now() - begin;
      if (me.rank() == 0) {
        more = state.KeepRunning();
        state.SetIterationTime(spent.count());
      }
      coset::broadcast(me, std::span(&more, 1), 0);
    }
  });
}

void first_call_of_a_shape(benchmark::State& state) {
  measure(state, [](std::size_t k) { return 300 + k % 20'000; });
}

void later_calls(benchmark::State& state) {
  measure(state, [](std::size_t) { return std::size_t{300}; });
}

BENCHMARK(first_call_of_a_shape)->UseManualTime()->Unit(benchmark::kMicrosecond)->Iterations(20'000);
BENCHMARK(later_calls)->UseManualTime()->Unit(benchmark::kMicrosecond)->Iterations(20'000);

}  // namespace
