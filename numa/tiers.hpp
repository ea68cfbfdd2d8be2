// SPDX-License-Identifier: Apache-2.0
// What kinds of memory a machine has: read from hwloc, for topology.cpp alone.
#pragma once

#include <vector>

#include "coset/topology.hpp"
#include "numa/hwloc.hpp"

namespace coset::numa {

/// Of all NUMA nodes, by their logical indices.
using tiers = std::vector<memory_tier>;

/// At least one node with processors is ordinary if there is any.
tiers tiers_of(hwloc_topology_t);

/// The machine's own latency matrix, cut to these nodes; empty unless it covers them all.
std::vector<std::vector<unsigned>> distances_between(hwloc_topology_t, std::vector<numa_node> const&);

/// One memory for each NUMA node, as `users`, the nodes of topology::nodes, reach it.
std::vector<node_memory> memories_of(hwloc_topology_t, tiers const&, std::vector<hwloc_obj_t> const& users);

}  // namespace coset::numa
