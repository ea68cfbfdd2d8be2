// SPDX-License-Identifier: Apache-2.0
// One thread's folds of P arrays: fused, by passes of two operands, and the memcpy that bounds both.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "runtime/kernels/kernels.hpp"

namespace {

using coset::detail::fold_set;
using coset::kernels::element;
using coset::kernels::operation;

/// `sources` arrays and `destinations` arrays of `bytes` each, all on cache lines.
class arrays {
 public:
  arrays(std::size_t sources, std::size_t destinations, std::size_t bytes)
      : pitch_((bytes + 127) / 64 * 64),
        memory_(new (std::align_val_t(4096)) std::byte[(sources + destinations) * pitch_]) {
    std::memset(memory_.get(), 0, (sources + destinations) * pitch_);
    for (std::size_t k = 0; k < sources; ++k) from.push_back(memory_.get() + k * pitch_);
    for (std::size_t k = 0; k < destinations; ++k) to.push_back(memory_.get() + (sources + k) * pitch_);
  }
  std::vector<void const*> from;
  std::vector<void*> to;

 private:
  struct release {
    void operator()(std::byte* memory) const { operator delete[](memory, std::align_val_t(4096)); }
  };
  std::size_t pitch_;
  std::unique_ptr<std::byte[], release> memory_;
};

/// Bytes read and written per second, beside the time of a call.
void count_traffic(benchmark::State& state, std::size_t bytes_per_call) {
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes_per_call) * state.iterations());
}

// Arguments: bytes of one array, sources, destinations.
void fold(benchmark::State& state, fold_set const& set, std::size_t element_bytes = sizeof(float)) {
  auto const bytes = static_cast<std::size_t>(state.range(0));
  auto const sources = static_cast<std::uint32_t>(state.range(1));
  auto const destinations = static_cast<std::uint32_t>(state.range(2));
  arrays const memory(sources, destinations, bytes);
  auto const function = set.for_sources(sources);
  for (auto _ : state) {
    function(nullptr, memory.to.data(), destinations, memory.from.data(), sources, bytes / element_bytes);
    benchmark::ClobberMemory();
  }
  count_traffic(state, (sources + destinations) * bytes);
}

// The same result by passes of two operands into the first destination.
void fold_by_twos(benchmark::State& state) {
  auto const bytes = static_cast<std::size_t>(state.range(0));
  auto const sources = static_cast<std::size_t>(state.range(1));
  arrays const memory(sources, 1, bytes);
  auto const function = coset::kernels::find(operation::plus, element::float32).of[2];
  for (auto _ : state) {
    void const* pair[] = {memory.from[0], memory.from[1]};
    for (std::size_t k = 1; k < sources; ++k) {
      pair[1] = memory.from[k];
      function(nullptr, memory.to.data(), 1, pair, 2, bytes / sizeof(float));
      pair[0] = memory.to[0];
    }
    benchmark::ClobberMemory();
  }
  count_traffic(state, (sources + 1) * bytes);
}

// memcpy of half as many bytes as the fold of P sources reads and writes: the same traffic.
void copy_as_much(benchmark::State& state) {
  auto const bytes = static_cast<std::size_t>(state.range(0)) * static_cast<std::size_t>(state.range(1) + 1) / 2;
  arrays const memory(1, 1, bytes);
  for (auto _ : state) {
    std::memcpy(memory.to[0], memory.from[0], bytes);
    benchmark::ClobberMemory();
  }
  count_traffic(state, 2 * bytes);
}

void sizes_and_sources(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"bytes", "sources", "destinations"});
  for (std::int64_t const sources : {2, 4, 8}) {
    for (std::int64_t const bytes : {8, 64, 1 << 10, 8 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20}) {
      bench->Args({bytes, sources, 1});
    }
  }
}

void several_destinations(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"bytes", "sources", "destinations"});
  for (std::int64_t const bytes : {64, 1 << 10, 64 << 10, 1 << 20}) bench->Args({bytes, 4, 4});
}

void more_sources_than_fused(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"bytes", "sources", "destinations"});
  for (std::int64_t const bytes : {8, 1 << 10, 64 << 10, 1 << 20}) bench->Args({bytes, 16, 1});
}

BENCHMARK_CAPTURE(fold, plus_float, coset::kernels::find(operation::plus, element::float32))
    ->Apply(sizes_and_sources)
    ->Apply(several_destinations)
    ->Apply(more_sources_than_fused);
BENCHMARK_CAPTURE(fold, plus_float_streaming, *coset::kernels::find_streaming(operation::plus, element::float32))
    ->Apply(sizes_and_sources);
BENCHMARK_CAPTURE(fold, maximum_float, coset::kernels::find(operation::maximum, element::float32))
    ->Apply(sizes_and_sources);
BENCHMARK_CAPTURE(fold, plus_double, coset::kernels::find(operation::plus, element::float64), 8)
    ->Apply(sizes_and_sources);
BENCHMARK_CAPTURE(fold, reproducible_double, coset::kernels::find(operation::reproducible_plus, element::float64), 8)
    ->Apply(sizes_and_sources);
BENCHMARK_CAPTURE(fold, reproducible_float, coset::kernels::find(operation::reproducible_plus, element::float32))
    ->Apply(sizes_and_sources);
BENCHMARK_CAPTURE(fold, plus_bfloat16, coset::kernels::find(operation::plus, element::bfloat16), 2)
    ->Apply(sizes_and_sources);
BENCHMARK_CAPTURE(fold, plus_float16, coset::kernels::find(operation::plus, element::float16), 2)
    ->Apply(sizes_and_sources);
BENCHMARK(fold_by_twos)->Apply(sizes_and_sources);
BENCHMARK(copy_as_much)->Apply(sizes_and_sources);

}  // namespace
