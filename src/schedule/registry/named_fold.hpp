// SPDX-License-Identifier: Apache-2.0
// The algorithms that are fold chains over a group: their rows of the registry.
#pragma once

#include "schedule/registry/algorithm.hpp"

namespace coset::schedule {

std::vector<named_algorithm> fold_algorithms();

}  // namespace coset::schedule
