// SPDX-License-Identifier: Apache-2.0
// The facts about a machine's memory that the default choice uses.
#pragma once

#include <cstdint>

#include "coset/topology.hpp"
#include "planning/calibration/memory_costs.hpp"

namespace coset::calibration {

/// These facts decide between storages, never between bracketings, so results have the same bits whatever they are.
struct memory_facts {
  std::uint64_t last_cache_bytes = 0;  ///< the part of the caches that its cores really have together; 0: unknown
  std::uint64_t own_cache_bytes = 0;   ///< the part that each core has for itself; 0: unknown
  std::uint64_t most_reached = 0;      ///< the part of last_cache_bytes that one core reaches; 0: unknown
  /// Who reads a line that another has written may store there at once; else it has to ask for it again, and returning lines costs
  /// readers what owners save, or more. Measured: on Zen 4 and 5 it may, on Sapphire Rapids it may not. Teams of several processes
  /// take it for granted.
  bool hands_over = true;
  memory_costs costs = {};
};

/// As the machine reports, but no core has more of its last cache than `most_per_core`.
memory_facts told_of(topology const&);

}  // namespace coset::calibration
