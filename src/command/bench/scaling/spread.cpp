// SPDX-License-Identifier: Apache-2.0
#include "command/bench/scaling/spread.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "command/measure/harness/statistics.hpp"

namespace coset::cli {
namespace {

constexpr int resamplings = 2000;

double drawn_median(std::vector<double> const& rounds, std::mt19937& random) {
  std::uniform_int_distribution<std::size_t> any(0, rounds.size() - 1);
  std::vector<double> drawn(rounds.size());
  for (double& d : drawn) d = rounds[any(random)];
  return measure::median(std::move(drawn));
}

template <class Draw>
interval resampled(double median, Draw draw) {
  std::mt19937 random(20240229);  // the same intervals at every look at a file
  std::vector<double> found(resamplings);
  for (double& f : found) f = draw(random);
  return {median, measure::quantile(found, 0.025), measure::quantile(found, 0.975)};
}

}  // namespace

interval interval_of(std::vector<double> const& rounds) {
  return resampled(measure::median(rounds), [&](std::mt19937& random) { return drawn_median(rounds, random); });
}

interval ratio_of(std::vector<double> const& above, std::vector<double> const& below) {
  return resampled(measure::median(above) / measure::median(below), [&](std::mt19937& random) {
    double const drawn = drawn_median(above, random);
    return drawn / drawn_median(below, random);
  });
}

steadiness steadiness_of(std::vector<double> const& rounds) {
  steadiness found;
  if (rounds.size() < 3) return found;
  auto const third = static_cast<std::ptrdiff_t>(rounds.size() / 3);
  std::vector<double> const first(rounds.begin(), rounds.begin() + third), last(rounds.end() - third, rounds.end());
  bool const are_apart =
      std::ranges::min(last) > std::ranges::max(first) || std::ranges::max(last) < std::ranges::min(first);
  if (are_apart) found.drift = measure::median(last) / measure::median(first);
  double const middle = measure::median(rounds);
  std::vector<double> distances;
  for (double const r : rounds) distances.push_back(std::abs(r - middle));
  double const far = std::max(5 * measure::median(distances), middle / 10);
  found.outliers = static_cast<std::size_t>(std::ranges::count_if(distances, [&](double d) { return d > far; }));
  return found;
}

}  // namespace coset::cli
