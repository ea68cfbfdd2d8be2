// SPDX-License-Identifier: Apache-2.0
// What the default choice knows of a machine's memory.
#pragma once

#include <cstdint>

#include "coset/topology.hpp"

namespace coset::calibration {

/// What of a machine decides between storages; never between bracketings, so results have the same bits whatever it is.
struct memory_facts {
  std::uint64_t last_cache_bytes = 0;  ///< what its cores really have of the caches together; 0: not known
  std::uint64_t own_cache_bytes = 0;   ///< what each has for itself; 0: not known
  std::uint64_t most_reached = 0;      ///< of the former, by one core; 0: not known
  /// How many times as long a core stores into lines that another has read as it copies lines that another has written; of
  /// the worst pair looked at. 0: not known.
  double stores_over_copies = 0;
};

/// As the machine tells: no core has more of its last cache than `most_per_core`, whatever a virtual machine reports.
memory_facts told_of(topology const&);

}  // namespace coset::calibration
