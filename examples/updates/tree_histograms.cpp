// SPDX-License-Identifier: Apache-2.0
// The histograms of gradient-boosted trees, as LightGBM builds them: for each feature and each of its bins the sums of the
// gradients and hessians of a leaf's rows, and how many rows there are. Three arrays are updated at one index, as one
// update. With the serial loop's bits, a tree is the same however many threads have built it.
#include <omp.h>

#include <coset/omp.hpp>
#include <cstdint>
#include <random>
#include <tuple>

#include "../race.hpp"

namespace {

/// [feature][row]: its bin; and of each row, what the loss says.
struct data {
  std::size_t bins;
  std::vector<std::vector<std::uint16_t>> bin_of;
  std::vector<float> gradient, hessian;
  std::vector<std::uint32_t> leaf;  ///< the numbers of its rows
};

data drawn(std::size_t rows, std::size_t features, std::size_t bins) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  data d{bins, std::vector<std::vector<std::uint16_t>>(features), {}, {}, {}};
  for (auto& feature : d.bin_of)
    for (std::size_t row = 0; row < rows; ++row) feature.push_back(static_cast<std::uint16_t>(random() % bins));
  for (std::uint32_t row = 0; row < rows; ++row) {
    d.gradient.push_back(normal(random));
    d.hessian.push_back(1 + normal(random) / 8);
    if (random() % 4 != 0) d.leaf.push_back(row);
  }
  return d;
}

/// [feature · bins + bin]
struct histograms {
  std::vector<double> gradient, hessian;
  std::vector<std::uint32_t> rows;
  friend bool operator==(histograms const&, histograms const&) = default;
  void clear(data const& d) {
    std::size_t const all = d.bin_of.size() * d.bins;
    gradient.assign(all, 0);
    hessian.assign(all, 0);
    rows.assign(all, 0);
  }
};

void add_feature(data const& d, std::size_t f, histograms& into) {
  for (std::uint32_t const row : d.leaf) {
    std::size_t const bin = f * d.bins + d.bin_of[f][row];
    into.gradient[bin] += d.gradient[row];
    into.hessian[bin] += d.hessian[row];
    ++into.rows[bin];
  }
}

void serial(data const& d, histograms& into) {
  into.clear(d);
  for (std::size_t f = 0; f < d.bin_of.size(); ++f) add_feature(d, f, into);
}

void with_coset(data const& d, histograms& into) {
  into.clear(d);
  // Iteration i is row i % leaf of feature i / leaf.
  std::size_t const rows = d.leaf.size(), updates = rows * d.bin_of.size();
  auto const bin = [&](std::size_t i) { return i / rows * d.bins + d.bin_of[i / rows][d.leaf[i % rows]]; };
  auto const loss = [&](std::size_t i) {
    std::uint32_t const row = d.leaf[i % rows];
    return std::tuple(d.gradient[row], d.hessian[row], 1u);
  };
  coset::omp::scatter_add(std::tie(into.gradient, into.hessian, into.rows), updates, bin, loss, coset::plus{},
                          {.required = coset::bits::serial});
}

/// Features are shared among the threads, as LightGBM does by default: no more threads than features.
void by_features(data const& d, histograms& into) {
  into.clear(d);
#pragma omp parallel for schedule(static)
  for (std::size_t f = 0; f < d.bin_of.size(); ++f) add_feature(d, f, into);
}

}  // namespace

int main(int argc, char** argv) {
  auto const sizes = example::sizes(argc, argv, "Histograms of FEATURES features of ROWS rows in BINS bins each.",
                                    {{"ROWS", 400000}, {"FEATURES", 3}, {"BINS", 255}});
  data const d = drawn(sizes[0], sizes[1], sizes[2]);
  std::printf("%zu of %zu rows, %zu features, %zu bins, %d threads\n", d.leaf.size(), sizes[0], sizes[1], sizes[2],
              omp_get_max_threads());
  bool const right = example::race<histograms>({{"serial", [&](histograms& h) { serial(d, h); }},
                                                {"coset::omp::scatter_add", [&](histograms& h) { with_coset(d, h); }},
                                                {"features by threads", [&](histograms& h) { by_features(d, h); }}},
                                               std::equal_to<>());
  return right ? 0 : 1;
}
