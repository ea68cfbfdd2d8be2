// SPDX-License-Identifier: Apache-2.0
// The algorithms that cut the vector in blocks whose number does not depend on that of ranks: their rows of the registry.
#pragma once

#include "schedule/registry/algorithm.hpp"

namespace coset::schedule {

std::vector<named_algorithm> pipelined_algorithms();

/// A value of the parameter blocks for those who know how long the vector is: what model/block_number.hpp finds.
inline constexpr char const* best_number = "best";

/// Whether an algorithm takes a number of blocks.
bool has_blocks(algorithm const&);

}  // namespace coset::schedule
