// SPDX-License-Identifier: Apache-2.0
// What programs are told of the cut that binds, beside each plan.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "command/shown/networks/cuts.hpp"

namespace coset::cli {

/// Of a plan that takes `seconds`: the bound, and how many times as long the plan takes; null where the bound is 0.
inline nlohmann::ordered_json bound_json(schedule::cut const& binding, double bytes, double seconds) {
  double const bound = binding.seconds(bytes);
  nlohmann::ordered_json made{
      {"bound", {{"cut", binding.name}, {"vectors", binding.crosses.text()}, {"seconds", bound}}}};
  made["over_bound"] = bound > 0 ? nlohmann::ordered_json(seconds / bound) : nlohmann::ordered_json();
  return made;
}

}  // namespace coset::cli
