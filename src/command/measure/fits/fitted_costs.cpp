// SPDX-License-Identifier: Apache-2.0
#include "command/measure/fits/fitted_costs.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace coset::calibration {
namespace {

/// How much a cost's distance from its default weighs beside a call's error: it settles what calls leave open.
constexpr double weight_of_default = 0.02;
/// Each sweep moves one cost after the other to where the sum is least; some tens settle to a part in a thousand.
constexpr int sweeps = 200;
/// What seems to cost nothing where cores are near costs something once a virtual machine has moved them.
constexpr double least_part_of_default = 0.1, most_times_default = 10;
/// A call that is off by more than this, as one that was interrupted, pulls no harder.
constexpr double bound_of_error = 0.7;  // log 2
/// Of a logarithm in one step, as prices are linear in costs only nearby.
constexpr double longest_step = 0.3;

double price_at(priced_call const& c, memory_costs const& costs) {
  double sum = c.constant;
  for (std::size_t k = 0; k < costs_by_name.size(); ++k) sum += c.factor[k] * costs.*costs_by_name[k].value;
  return sum;
}

}  // namespace

// Logarithms of ratios, so that half the time is as wrong as twice the time. One cost at a time by Gauss and Newton: its part
// of a price is how much the logarithm of the price changes with its own.
memory_costs fitted_costs(std::span<priced_call const> all) {
  memory_costs found;
  std::vector<double> price;
  std::vector<priced_call> calls;
  for (priced_call const& c : all) {
    double const now = price_at(c, found);
    if (!(c.measured > 0 && now > 0)) continue;
    calls.push_back(c);
    price.push_back(now);
  }
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (std::size_t k = 0; k < costs_by_name.size(); ++k) {
      double& cost = found.*costs_by_name[k].value;
      double const usual = memory_costs{}.*costs_by_name[k].value, away = std::log(cost / usual);
      double down = -weight_of_default * away, curvature = weight_of_default;
      for (std::size_t i = 0; i < calls.size(); ++i) {
        double const part = calls[i].factor[k] * cost / price[i], error = std::log(price[i] / calls[i].measured);
        double const weight = std::min(1.0, bound_of_error / std::max(std::abs(error), bound_of_error));
        down -= weight * part * error;
        curvature += weight * part * part;
      }
      double const step = std::clamp(down / curvature, -longest_step, longest_step);
      double const before = cost;
      cost = std::clamp(cost * std::exp(step), least_part_of_default * usual, most_times_default * usual);
      for (std::size_t i = 0; i < calls.size(); ++i) price[i] += calls[i].factor[k] * (cost - before);
    }
  }
  return found;
}

}  // namespace coset::calibration
