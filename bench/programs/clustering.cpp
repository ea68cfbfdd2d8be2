// SPDX-License-Identifier: Apache-2.0
// A step of k-means: each point adds itself to the sum of the centre that is nearest, and counts there.
#include <random>

#include "bench/programs/loop_program.hpp"

namespace coset::measure {
namespace {

struct clustering {
  clustering(std::size_t number, std::size_t clusters)
      : centres(clusters * dimensions), points(number * dimensions), sums(centres.size()), counts(clusters) {
    std::mt19937_64 choices(3);
    std::normal_distribution<double> place;
    for (double& x : points) x = place(choices);
    for (double& x : centres) x = place(choices);
  }

  std::string name() const {
    return "k-means, " + std::to_string(items()) + " points, " + std::to_string(sums.size()) + " + " +
           std::to_string(counts.size());
  }
  std::size_t items() const { return points.size() / dimensions; }
  auto targets() { return std::tie(sums, counts); }

  double item(std::size_t i, auto const& sum_of, auto const& count_of) const {
    double const* const point = &points[i * dimensions];
    std::size_t nearest = 0;
    double least = squared_distance(point, 0);
    for (std::size_t c = 1; c < counts.size(); ++c) {
      double const distance = squared_distance(point, c);
      if (distance < least) {
        least = distance;
        nearest = c;
      }
    }
    for (std::size_t d = 0; d < dimensions; ++d) sum_of[nearest * dimensions + d] += point[d];
    count_of[nearest] += 1;
    return least;
  }

  void clause() {
    std::fill(sums.begin(), sums.end(), 0);
    std::fill(counts.begin(), counts.end(), 0);
    double* const sum_of = sums.data();
    std::uint32_t* const count_of = counts.data();
    std::size_t const all = sums.size(), clusters = counts.size();
    double inertia = 0;
#pragma omp parallel for reduction(+ : inertia, sum_of[:all], count_of[:clusters])
    for (std::size_t i = 0; i < items(); ++i) inertia += item(i, sum_of, count_of);
    value = inertia;
  }

  static constexpr std::size_t dimensions = 4;
  std::vector<double> centres, points, sums;
  std::vector<std::uint32_t> counts;
  double value = 0;

 private:
  double squared_distance(double const* point, std::size_t c) const {
    double sum = 0;
    for (std::size_t d = 0; d < dimensions; ++d) {
      double const difference = point[d] - centres[c * dimensions + d];
      sum += difference * difference;
    }
    return sum;
  }
};

}  // namespace

program_list make_clusterings() {
  program_list all;
  all.push_back(std::make_unique<loop_program<clustering>>(clustering(50'000, 16)));
  all.push_back(std::make_unique<loop_program<clustering>>(clustering(5'000, 64)));
  return all;
}

}  // namespace coset::measure
