// SPDX-License-Identifier: Apache-2.0
// Order statistics and the percentile bootstrap of a median of paired ratios.
#include "command/measure/harness/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "coset/error.hpp"

namespace coset::measure {
namespace {

constexpr int resamplings = 2000;

verdict judge(comparison const& found) {
  if (found.rounds < fewest_rounds) return verdict::undecided;
  if (found.low > tolerance) return verdict::slower;
  if (found.high > tolerance) return verdict::undecided;
  return found.high < 1 ? verdict::faster : verdict::level;
}

std::vector<double> medians_of_resamplings(std::vector<double> const& ratios) {
  std::mt19937 random(20240229);
  std::uniform_int_distribution<std::size_t> any(0, ratios.size() - 1);
  std::vector<double> medians(resamplings);
  std::vector<double> drawn(ratios.size());
  for (double& m : medians) {
    for (double& d : drawn) d = ratios[any(random)];
    m = median(drawn);
  }
  return medians;
}

}  // namespace

double median(std::vector<double> samples) {
  auto const middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  if (samples.size() % 2 == 1) return *middle;
  return (*std::max_element(samples.begin(), middle) + *middle) / 2;
}

double quantile(std::vector<double> samples, double fraction) {
  auto const rank = static_cast<std::size_t>(std::ceil(fraction * static_cast<double>(samples.size())));
  auto const at = samples.begin() + static_cast<std::ptrdiff_t>(std::clamp<std::size_t>(rank, 1, samples.size()) - 1);
  std::nth_element(samples.begin(), at, samples.end());
  return *at;
}

spread spread_of(std::vector<double> const& samples) {
  if (samples.empty()) throw argument_error("no samples to summarise");
  return {*std::min_element(samples.begin(), samples.end()), median(samples), quantile(samples, 0.99), samples.size()};
}

std::string_view name_of(verdict v) {
  switch (v) {
    case verdict::faster:
      return "faster";
    case verdict::level:
      return "level";
    case verdict::slower:
      return "slower";
    case verdict::undecided:
      break;
  }
  return "undecided";
}

advantage advantage_of(comparison const& c) { return {1 / c.ratio, 1 / c.high, 1 / c.low}; }

comparison compare(std::span<double const> ours, std::span<double const> theirs) {
  if (ours.empty() || ours.size() != theirs.size()) {
    throw argument_error(fmt::format("cannot pair {} rounds with {}", ours.size(), theirs.size()));
  }
  std::vector<double> ratios(ours.size());
  for (std::size_t i = 0; i < ratios.size(); ++i) ratios[i] = ours[i] / theirs[i];

  comparison found;
  found.rounds = ratios.size();
  found.ratio = median(ratios);
  auto const medians = medians_of_resamplings(ratios);
  found.low = quantile(medians, 0.025);
  found.high = quantile(medians, 0.975);
  found.verdict = judge(found);
  return found;
}

}  // namespace coset::measure
