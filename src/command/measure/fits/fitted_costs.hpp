// SPDX-License-Identifier: Apache-2.0
// What moving bytes costs, fitted to calls that were measured.
#pragma once

#include <array>
#include <span>

#include "planning/calibration/memory_costs.hpp"

namespace coset::calibration {

/// What a plan added to a cycle, and how its price depends on the costs, on each as much: price = constant + sum of factor · cost.
struct priced_call {
  std::array<double, costs_by_name.size()> factor = {};
  double constant = 0, measured = 0;
};

/// The costs with which prices come nearest to what was measured, by the logarithms of their ratios, of which outliers
/// count less. None is less than a tenth of its default or more than ten times that; what calls do not show stays as it is by
/// default. Calls that took no time, or have no price, are left out.
memory_costs fitted_costs(std::span<priced_call const>);

}  // namespace coset::calibration
