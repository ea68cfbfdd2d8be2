// SPDX-License-Identifier: Apache-2.0
// The report of `coset tune`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "coset/verbs/verb.hpp"
#include "planning/calibration/profile.hpp"

namespace coset::cli {

/// the plan along clusters
struct contest {
  verb what;
  std::size_t bytes;
  std::string along, flat;
  std::string times;  ///< of both plans, in each state of the machine
  bool chosen;        ///< along
};

/// The contests and the profile, which was written to `file`.
std::string tune_report(std::vector<contest> const&, calibration::profile const&, std::string const& file);

}  // namespace coset::cli
