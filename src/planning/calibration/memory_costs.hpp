// SPDX-License-Identifier: Apache-2.0
// What moving bytes costs on a machine: the parameters of prices, by default and as `coset tune` fits them.
#pragma once

#include <array>

namespace coset::calibration {

/// Seconds, and seconds per byte. Like all facts about memory they decide between storages, never between bracketings. The
/// defaults were measured on virtual machines of Zen 4 and Zen 5, cores near and apart.
struct memory_costs {
  double round = 140e-9, peer = 6.5e-9;  ///< of flags within an L3, and for each rank that is awaited
  double fetched = 0.03e-9;              ///< of a line that another core of the L3 has
  double folded = 0.01e-9;
  double copy = 12.4e-9;             ///< a copy, however short
  double copied = 0.01e-9;           ///< while both arrays fit a core's own cache
  double copied_beyond = 0.02e-9;    ///< else
  double copied_at_once = 0.028e-9;  ///< into staging, for each who fetches it in the one round that there is
  double touched = 20e-9;     ///< for reaching others' arrays at all: whoever does says so first, in case a rank fails
  double regained = 0.09e-9;  ///< of a line that others have fetched, when its owner writes there again
  double regained_beyond = 0.042e-9;  ///< the same once it has left the owner's own cache
  double kept_out = 0.06e-9;          ///< stored past caches that would have held it

  friend bool operator==(memory_costs const&, memory_costs const&) = default;
};

/// All of them, as profiles and `coset tune` name them.
struct named_cost {
  char const* name;
  double memory_costs::*value;
};
inline constexpr std::array costs_by_name{
    named_cost{"round", &memory_costs::round},
    named_cost{"peer", &memory_costs::peer},
    named_cost{"fetched", &memory_costs::fetched},
    named_cost{"folded", &memory_costs::folded},
    named_cost{"copy", &memory_costs::copy},
    named_cost{"copied", &memory_costs::copied},
    named_cost{"copied_beyond", &memory_costs::copied_beyond},
    named_cost{"copied_at_once", &memory_costs::copied_at_once},
    named_cost{"touched", &memory_costs::touched},
    named_cost{"regained", &memory_costs::regained},
    named_cost{"regained_beyond", &memory_costs::regained_beyond},
    named_cost{"kept_out", &memory_costs::kept_out},
};

}  // namespace coset::calibration
