// SPDX-License-Identifier: Apache-2.0
// A plan and the calls that it is to serve, as `coset tune` finds it and users write it.
#pragma once

#include <cstddef>
#include <string>

#include "coset/plan.hpp"

namespace coset::calibration {

/// For vectors of `from` ≤ bytes < `to`.
struct rule {
  verb what;
  rank_t ranks;  ///< 0: any number
  std::size_t from, to;
  plan_options how;
  bool in_place_too = true;     ///< serves calls whose output is their input
  bool along_clusters = false;  ///< serves only ranks in the order of hidden clusters that still exist
  std::string named_by = {};    ///< "COSET_ALLREDUCE", "tuning profile 'FILE'": for messages
};

}  // namespace coset::calibration
