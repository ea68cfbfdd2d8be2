// SPDX-License-Identifier: Apache-2.0
// The transpose of a sparse matrix times a vector: each row adds to the places of its columns.
#include <random>

#include "bench/programs/loop_program.hpp"

namespace coset::measure {
namespace {

struct transpose {
  transpose(std::size_t order, std::size_t row_length)
      : length(row_length), columns(order * row_length), entries(columns.size()), x(order), y(order) {
    std::mt19937_64 choices(6);
    std::normal_distribution<double> entry;
    for (std::size_t i = 0; i < order; ++i) {
      x[i] = entry(choices);
      for (std::size_t k = 0; k < length; ++k) {
        std::size_t const spread = std::min<std::size_t>(order, 1000);  // a band
        columns[i * length + k] = static_cast<std::uint32_t>((i + choices() % spread) % order);
        entries[i * length + k] = entry(choices);
      }
    }
  }

  std::string name() const {
    return "transpose, " + std::to_string(columns.size()) + " entries, " + std::to_string(y.size());
  }
  std::size_t items() const { return x.size(); }
  auto targets() { return std::tie(y); }

  double item(std::size_t i, auto const& to) const {
    double sum = 0;
    for (std::size_t k = i * length; k < (i + 1) * length; ++k) {
      to[columns[k]] += entries[k] * x[i];
      sum += entries[k];
    }
    return sum;
  }

  void clause() {
    std::fill(y.begin(), y.end(), 0);
    double* const to = y.data();
    std::size_t const order = y.size();
    double sum = 0;
#pragma omp parallel for reduction(+ : sum, to[:order])
    for (std::size_t i = 0; i < x.size(); ++i) sum += item(i, to);
    value = sum;
  }

  std::size_t length;
  std::vector<std::uint32_t> columns;
  std::vector<double> entries, x, y;
  double value = 0;
};

}  // namespace

program_list make_transposes() {
  program_list all;
  all.push_back(std::make_unique<loop_program<transpose>>(transpose(10'000, 20)));
  all.push_back(std::make_unique<loop_program<transpose>>(transpose(200'000, 5)));
  return all;
}

}  // namespace coset::measure
