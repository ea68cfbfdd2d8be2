// SPDX-License-Identifier: Apache-2.0
// A program of somebody else in whose loops OpenMP's threads, then oneTBB's, add to one array.
#include <oneapi/tbb/parallel_for.h>

#include <coset/omp.hpp>
#include <coset/tbb.hpp>
#include <span>
#include <vector>

int main() {
  constexpr std::size_t n = 8, items = 800;
  std::vector<double> bins(n);
  coset::omp::reduction in_region{std::span(bins)};
#pragma omp parallel
  {
    auto mine = in_region.local();
#pragma omp for nowait
    for (std::size_t i = 0; i < items; ++i) mine[i % n] += 1;
    in_region.combine();
  }
  coset::tbb::reducer<double> in_tasks(n);
  oneapi::tbb::parallel_for(std::size_t{0}, items, [&](std::size_t i) { in_tasks.local()[i % n] += 1; });
  in_tasks.combine_into(bins);
  return bins == std::vector<double>(n, 2.0 * items / n) ? 0 : 1;
}
