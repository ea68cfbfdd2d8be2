// SPDX-License-Identifier: Apache-2.0
// Ranks by node: what the hierarchical schedules share.
#pragma once

#include <vector>

#include "coset/error.hpp"

namespace coset::schedule {

/// The ranks of each node, counted through. Throws schedule_error if there are no nodes or one is empty.
std::vector<std::vector<rank_t>> members_of(std::vector<rank_t> const& nodes);

}  // namespace coset::schedule
