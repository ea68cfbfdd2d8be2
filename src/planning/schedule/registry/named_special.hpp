// SPDX-License-Identifier: Apache-2.0
// The algorithms that are no fold chains: their rows of the registry.
#pragma once

#include "planning/schedule/registry/algorithm.hpp"

namespace coset::schedule {

std::vector<named_algorithm> special_algorithms();

}  // namespace coset::schedule
