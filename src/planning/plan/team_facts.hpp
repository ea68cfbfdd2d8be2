// SPDX-License-Identifier: Apache-2.0
// What plans depend on beside the call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "coset/error.hpp"
#include "planning/calibration/memory_facts.hpp"
#include "planning/choice/levels.hpp"
#include "planning/choice/rules/settings.hpp"
#include "planning/choice/rules/table.hpp"
#include "planning/program/program.hpp"

namespace coset::planning {

/// The facts about a team on which plans depend. They are the same on all its ranks, so all ranks choose the same
/// plans.
struct team_facts {
  rank_t ranks = 0;
  bool pointers = true;              ///< ranks reach each other's arrays; over processes, in every domain
  bool crowded = false;              ///< ranks of one process that take turns on processors
  choice::level_facts levels;        ///< of its ranks, see choice::put_on_levels
  std::vector<rank_t> node_leaders;  ///< [rank]: the first rank on its node; of one domain's only
  calibration::memory_facts memory;  ///< of the machine
  choice::adaptation adapts = choice::adaptation::on;  ///< whether ranks learn from what calls take
  choice::table choices;                               ///< what comes before the library's own choice
  program::distribution spread;                        ///< over domains
  std::size_t most_staging = SIZE_MAX;                 ///< per rank, parity and channel
};

}  // namespace coset::planning
