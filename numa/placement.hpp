// SPDX-License-Identifier: Apache-2.0
// Ranks that outnumber the processors.
#pragma once

#include <vector>

#include "coset/topology.hpp"

namespace coset::numa {

/// topology::place(), and where ranks outnumber processors each processor has several, as many as another give or take
/// one: compact ranks share with their neighbours, others in turn.
std::vector<processor> place_or_share(topology const&, rank_t ranks, placement);

}  // namespace coset::numa
