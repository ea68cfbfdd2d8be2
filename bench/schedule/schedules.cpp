// SPDX-License-Identifier: Apache-2.0
// Generating a schedule for all ranks, proving it, and one rank's view of it without the others.
#include <benchmark/benchmark.h>

#include <cmath>
#include <string>

#include "planning/schedule/core/validate.hpp"
#include "planning/schedule/groups/chains.hpp"
#include "planning/schedule/groups/fold.hpp"
#include "planning/schedule/registry/algorithm.hpp"

namespace {

using namespace coset::schedule;
using coset::rank_t;

/// As on the command line; product over two equal factors.
algorithm named(std::string const& name, rank_t ranks) {
  if (name != "product") return algorithm::parse(name);
  auto const side = std::to_string(static_cast<int>(std::lround(std::sqrt(ranks))));
  return algorithm::parse("product(dims=" + side + "x" + side + ")");
}

void generate(benchmark::State& state, std::string const& name) {
  auto const ranks = static_cast<rank_t>(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(make(named(name, ranks), ranks));
}

void generate_and_validate(benchmark::State& state, std::string const& name) {
  auto const ranks = static_cast<rank_t>(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(validate(make(named(name, ranks), ranks)));
}

/// Linear in the ranks for a given radix.
void view_of_one_rank(benchmark::State& state) {
  auto const ranks = static_cast<rank_t>(state.range(0));
  auto const radix = static_cast<rank_t>(state.range(1));
  for (auto _ : state) {
    auto const steps = interval_chain(ranks, radix);
    benchmark::DoNotOptimize(view(fold(group::cyclic(ranks), steps, steps), ranks / 2));
  }
  state.SetComplexityN(ranks);
}

#define FOR_ALL(function)                                                                            \
  BENCHMARK_CAPTURE(function, direct, "direct")->Arg(1024)->Unit(benchmark::kMillisecond);           \
  BENCHMARK_CAPTURE(function, generalized, "generalized")->Arg(1024)->Unit(benchmark::kMillisecond); \
  BENCHMARK_CAPTURE(function, product, "product")->Arg(1024)->Unit(benchmark::kMillisecond)

FOR_ALL(generate);
FOR_ALL(generate_and_validate);
BENCHMARK(view_of_one_rank)
    ->ArgsProduct({{1 << 10, 1 << 12, 1 << 14, 1 << 16}, {2}})
    ->Unit(benchmark::kMillisecond)
    ->Complexity(benchmark::oN);

}  // namespace
