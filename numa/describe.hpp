// SPDX-License-Identifier: Apache-2.0
// A topology for people: what `coset info` prints.
#pragma once

#include <string>

#include "coset/topology.hpp"

namespace coset::numa {

/// A short table, one line per level of the machine and one per node, ending in a newline.
std::string describe(topology const& machine);

}  // namespace coset::numa
