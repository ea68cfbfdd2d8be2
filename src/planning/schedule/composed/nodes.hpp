// SPDX-License-Identifier: Apache-2.0
// Ranks by node: what the hierarchical schedules share.
#pragma once

#include "planning/schedule/core/assembly.hpp"
#include "planning/schedule/registry/algorithm.hpp"

namespace coset::schedule {

/// The ranks of each node, counted through. Throws schedule_error if there are no nodes or one is empty.
std::vector<std::vector<rank_t>> members_of(std::vector<rank_t> const& nodes);

/// The algorithm on every node's ranks, the whole vector each, rank 0 of a node being the root.
std::vector<mapped> in_every_node(std::vector<std::vector<rank_t>> const& members, algorithm const& inside, verb what);

}  // namespace coset::schedule
