// SPDX-License-Identifier: Apache-2.0
#include "calibration/memory_costs.hpp"

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
constexpr double least_part_of_default = 0.1;
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
memory_costs fitted_costs(std::span<priced_call const> calls) {
  memory_costs found;
  std::vector<double> price;
  for (priced_call const& c : calls) price.push_back(price_at(c, found));
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (std::size_t k = 0; k < costs_by_name.size(); ++k) {
      double& cost = found.*costs_by_name[k].value;
      double const usual = memory_costs{}.*costs_by_name[k].value, away = std::log(cost / usual);
      double down = -weight_of_default * away, curvature = weight_of_default;
      for (std::size_t i = 0; i < calls.size(); ++i) {
        double const part = calls[i].factor[k] * cost / price[i];
        down -= part * std::log(price[i] / calls[i].measured);
        curvature += part * part;
      }
      double const step = std::clamp(down / curvature, -longest_step, longest_step);
      double const before = cost;
      cost = std::max(cost * std::exp(step), least_part_of_default * usual);
      for (std::size_t i = 0; i < calls.size(); ++i) price[i] += calls[i].factor[k] * (cost - before);
    }
  }
  return found;
}

}  // namespace coset::calibration
