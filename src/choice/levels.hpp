// SPDX-License-Identifier: Apache-2.0
// The levels of a machine along which large teams fold.
#pragma once

#include <vector>

#include "coset/topology.hpp"

namespace coset::choice {

/// The levels of these processors whose groups of ranks all have one size, innermost first: each size divides the next,
/// and the last is smaller than the team. Empty if the machine reports none, or if ranks are spread unevenly.
std::vector<rank_t> levels_of(std::vector<processor> const& places);

/// The number of ranks of each node, if there are several nodes and the ranks of each are consecutive; else empty.
std::vector<rank_t> nodes_of(std::vector<processor> const& places);

}  // namespace coset::choice
