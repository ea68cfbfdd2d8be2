// SPDX-License-Identifier: Apache-2.0
// y = Aᵀx of a sparse matrix that lies by rows, and its transpose itself: how many entries each column has is a loop that
// counts, and decides where the transpose's rows begin.
#include <omp.h>

#include <coset/omp.hpp>
#include <cstdint>
#include <numeric>
#include <random>

#include "../race.hpp"

namespace {

/// Entry e lies in row[e] and column[e], row by row.
struct matrix {
  std::size_t columns;
  std::vector<std::uint32_t> row, column;
  std::vector<double> value;
};

matrix drawn(std::size_t rows, std::size_t columns, std::size_t entries_each) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(-1, 1);
  matrix a{columns, {}, {}, {}};
  for (std::uint32_t r = 0; r < rows; ++r)
    for (std::size_t e = 0; e < entries_each; ++e) {
      a.row.push_back(r);
      a.column.push_back(static_cast<std::uint32_t>(random() % columns));
      a.value.push_back(uniform(random));
    }
  return a;
}

struct answer {
  std::vector<double> product;
  std::vector<std::uint32_t> entries;  ///< [column]
  friend bool operator==(answer const&, answer const&) = default;
  void clear(matrix const& a) {
    product.assign(a.columns, 0);
    entries.assign(a.columns, 0);
  }
};

void serial(matrix const& a, std::vector<double> const& x, answer& y) {
  y.clear(a);
  for (std::size_t e = 0; e < a.column.size(); ++e) y.product[a.column[e]] += a.value[e] * x[a.row[e]];
  for (std::uint32_t const column : a.column) ++y.entries[column];
}

void with_coset(matrix const& a, std::vector<double> const& x, answer& y) {
  y.clear(a);
  auto const term = [&](std::size_t e) { return a.value[e] * x[a.row[e]]; };
  coset::omp::scatter_add(y.product, a.column, term, coset::plus{}, {.required = coset::bits::serial});
  coset::omp::scatter_add(y.entries, a.column);  // each update counts
}

void with_atomics(matrix const& a, std::vector<double> const& x, answer& y) {
  y.clear(a);
#pragma omp parallel for schedule(static)
  for (std::size_t e = 0; e < a.column.size(); ++e) {
    double const term = a.value[e] * x[a.row[e]];
#pragma omp atomic
    y.product[a.column[e]] += term;
#pragma omp atomic
    ++y.entries[a.column[e]];
  }
}

/// Atomics add in any order.
bool nearly(answer const& expected, answer const& got) {
  return expected.entries == got.entries && std::ranges::equal(expected.product, got.product, [](double e, double g) {
           return std::abs(e - g) <= 1e-12 * (1 + std::abs(e));
         });
}

}  // namespace

int main(int argc, char** argv) {
  auto const sizes = example::sizes(argc, argv, "Transposes a matrix of ROWS x COLUMNS with ENTRIES in each row.",
                                    {{"ROWS", 200000}, {"COLUMNS", 4000000}, {"ENTRIES", 8}});
  matrix const a = drawn(sizes[0], sizes[1], sizes[2]);
  std::vector<double> x(sizes[0]);
  std::iota(x.begin(), x.end(), 1.0);
  std::printf("%zu x %zu, %zu entries, %d threads\n", sizes[0], sizes[1], a.value.size(), omp_get_max_threads());
  answer expected, got;
  serial(a, x, expected);
  with_coset(a, x, got);
  std::printf("coset's bits are %s\n", expected == got ? "the serial loop's" : "OTHERS");
  bool const right = example::race<answer>({{"serial", [&](answer& y) { serial(a, x, y); }},
                                            {"coset::omp::scatter_add", [&](answer& y) { with_coset(a, x, y); }},
                                            {"OpenMP atomic", [&](answer& y) { with_atomics(a, x, y); }}},
                                           nearly);
  return right && expected == got ? 0 : 1;
}
