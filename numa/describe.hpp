// SPDX-License-Identifier: Apache-2.0
// A topology for people: what `coset info` prints.
#pragma once

#include <string>

#include "coset/topology.hpp"

namespace coset::numa {

/// A short table: a line per node with what it has and its distances to the nearest and the farthest other node, and
/// a line for all nodes; where there is memory of several tiers, a line per memory and what each node's processors are
/// given of it. Ends in a newline.
std::string describe(topology const& machine);

/// Of a machine whose cache lines are longer than the spacing of words that different threads write; empty otherwise.
std::string line_warning(topology const& machine);

}  // namespace coset::numa
