// SPDX-License-Identifier: Apache-2.0
// What stores into a line cost by who had it last: `kernels_bench --benchmark_filter=stores`, two ranks.
#include <benchmark/benchmark.h>
#include <coset/coset.hpp>

#include <atomic>
#include <chrono>
#include <cstring>
#include <numeric>
#include <vector>

namespace {

enum class other_rank { stays_away, reads, writes };

constexpr std::size_t count = 32 * 1024 / sizeof(float);

/// Rank 0 copies 32 KiB into an array that rank 1 has touched meanwhile. Barriers tell whether the cores are near.
void stores(benchmark::State& state, other_rank does) {
  using clock = std::chrono::steady_clock;
  coset::team ranks({.ranks = 2});
  std::vector<float> const from(count, 1);
  std::vector<float> to(count);
  std::atomic<bool> is_over = false;
  std::chrono::duration<double> met{};
  ranks.run([&](coset::member& me) {
    if (me.rank() == 0) {
      for (auto _ : state) {
        coset::barrier(me);  // rank 1 begins
        auto const began = clock::now();
        coset::barrier(me);
        auto const begin = clock::now();
        std::memcpy(to.data(), from.data(), count * sizeof(float));
        std::chrono::duration<double> const took = clock::now() - begin;
        met += begin - began;
        state.SetIterationTime(took.count());
      }
      is_over = true;
      coset::barrier(me);
      return;
    }
    for (;;) {
      coset::barrier(me);
      if (is_over) return;
      if (does == other_rank::reads) benchmark::DoNotOptimize(std::accumulate(to.data(), to.data() + count, 0.f));
      if (does == other_rank::writes) std::memset(to.data(), 0, count * sizeof(float));
      coset::barrier(me);
    }
  });
  state.SetBytesProcessed(static_cast<std::int64_t>(count * sizeof(float)) * state.iterations());
  if (does == other_rank::stays_away)
    state.counters["barrier_ns"] = met.count() / static_cast<double>(state.iterations()) * 1e9;
}

BENCHMARK_CAPTURE(stores, into_own_lines, other_rank::stays_away)->UseManualTime();
BENCHMARK_CAPTURE(stores, into_lines_that_the_other_has_read, other_rank::reads)->UseManualTime();
BENCHMARK_CAPTURE(stores, into_lines_that_the_other_has_written, other_rank::writes)->UseManualTime();

}  // namespace
