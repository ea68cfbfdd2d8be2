// SPDX-License-Identifier: Apache-2.0
// The levels of a machine along which large teams fold.
#pragma once

#include <vector>

#include "coset/topology.hpp"

namespace coset::choice {

/// The levels of ranks on these processors that all have groups of one size, innermost first: each size divides the
/// next, the last one is smaller than the team. Empty where the machine tells none, or ranks are spread unevenly.
std::vector<rank_t> levels_of(std::vector<processor> const& places);

/// How many ranks each node has, if there are several nodes and the ranks of each are consecutive; else none.
std::vector<rank_t> nodes_of(std::vector<processor> const& places);

}  // namespace coset::choice
