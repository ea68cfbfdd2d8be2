// SPDX-License-Identifier: Apache-2.0
// Allreduce in three phases through one leader per node.
#pragma once

#include "planning/schedule/registry/algorithm.hpp"

namespace coset::schedule {

/// Allreduce over nodes of the given numbers of consecutive ranks: binomial reduce to each node's first rank, `between` as
/// an allreduce among those, binomial broadcast inside. With recursive doubling or the binomial tree between, these are
/// [PY]'s SMP-rdb and SMP-binomial.
/// Cost: 2·ceil(log c_max) rounds and those of `between`; the other ranks of a node idle meanwhile.
schedule leaders(std::vector<rank_t> const& nodes, algorithm const& between);

}  // namespace coset::schedule
