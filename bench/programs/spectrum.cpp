// SPDX-License-Identifier: Apache-2.0
// The power spectrum of a field: each mode adds its power to the shell of its wave number, and counts there.
#include <cmath>
#include <random>

#include "bench/programs/loop_program.hpp"

namespace coset::measure {
namespace {

struct spectrum {
  explicit spectrum(std::size_t points) : n(points), modes(n * n * n), power(n), counts(n) {
    std::mt19937_64 choices(2);
    std::normal_distribution<float> amplitude;
    for (float& m : modes) m = amplitude(choices);
  }

  std::string name() const { return "spectrum, " + std::to_string(n) + "^3 modes, 2 x " + std::to_string(n); }
  std::size_t items() const { return n * n; }
  auto targets() { return std::tie(power, counts); }

  /// A row of modes.
  double item(std::size_t row, auto const& power_of, auto const& count_of) const {
    auto const frequency = [this](std::size_t k) {
      return static_cast<double>(k) - (k > n / 2 ? static_cast<double>(n) : 0.0);
    };
    double const x = frequency(row / n), y = frequency(row % n);
    double sum = 0;
    for (std::size_t k = 0; k < n; ++k) {
      double const z = frequency(k), amplitude = static_cast<double>(modes[row * n + k]);
      auto const shell = static_cast<std::size_t>(std::sqrt(x * x + y * y + z * z) + 0.5);
      power_of[shell] += amplitude * amplitude;
      count_of[shell] += 1;
      sum += amplitude;
    }
    return sum;
  }

  void clause() {
    std::fill(power.begin(), power.end(), 0);
    std::fill(counts.begin(), counts.end(), 0);
    double* const power_of = power.data();
    std::uint32_t* const count_of = counts.data();
    std::size_t const shells = n;
    double sum = 0;
#pragma omp parallel for reduction(+ : sum, power_of[:shells], count_of[:shells])
    for (std::size_t i = 0; i < n * n; ++i) sum += item(i, power_of, count_of);
    value = sum;
  }

  std::size_t n;
  std::vector<float> modes;
  std::vector<double> power;
  std::vector<std::uint32_t> counts;
  double value = 0;
};

}  // namespace

program_list make_spectra() {
  program_list all;
  all.push_back(std::make_unique<loop_program<spectrum>>(spectrum(64)));
  return all;
}

}  // namespace coset::measure
