// SPDX-License-Identifier: Apache-2.0
// A weighted histogram of values that go to any bin.
#include <random>

#include "bench/programs/loop_program.hpp"

namespace coset::measure {
namespace {

// Before and after as in README.md: a test compares what stands between the marks.
void by_clause(double* bins, std::size_t n, std::uint32_t const* key, double const* weight, int items) {
  // README: before
#pragma omp parallel for reduction(+ : bins[:n])
  for (int i = 0; i < items; ++i) bins[key[i]] += weight[i];
  // README: end
}

void by_coset(double* bins, std::size_t n, std::uint32_t const* key, double const* weight, int items) {
  // README: after
  coset::omp::reduction sum(std::span(bins, n));
#pragma omp parallel
  {
    auto mine = sum.local();
#pragma omp for nowait
    for (int i = 0; i < items; ++i) mine[key[i]] += weight[i];
    sum.combine();
  }
  // README: end
}

struct histogram {
  histogram(std::size_t number, std::size_t items) : keys(items), weights(items), bins(number) {
    std::mt19937_64 choices(5);
    std::uniform_real_distribution<double> weight(0, 1);
    for (auto& key : keys) key = static_cast<std::uint32_t>(choices() % number);
    for (double& w : weights) w = weight(choices);
  }

  std::string name() const {
    return "histogram, " + std::to_string(keys.size()) + " values, " + std::to_string(bins.size());
  }
  std::size_t items() const { return keys.size(); }
  auto targets() { return std::tie(bins); }

  double item(std::size_t i, auto const& bin) const {
    bin[keys[i]] += weights[i];
    return 0;
  }

  void clause() { anew(by_clause); }
  void as_in_readme() { anew(by_coset); }

  void anew(auto add) {
    value = 0;
    std::fill(bins.begin(), bins.end(), 0);
    add(bins.data(), bins.size(), keys.data(), weights.data(), static_cast<int>(keys.size()));
  }

  std::vector<std::uint32_t> keys;
  std::vector<double> weights, bins;
  double value = 0;
};

}  // namespace

program_list make_histograms() {
  program_list all;
  for (std::size_t const bins : {1u << 8, 1u << 10, 1u << 14, 1u << 17, 1u << 20})
    all.push_back(std::make_unique<loop_program<histogram>>(histogram(bins, std::max<std::size_t>(100'000, 2 * bins))));
  return all;
}

}  // namespace coset::measure
