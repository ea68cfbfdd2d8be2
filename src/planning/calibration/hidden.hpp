// SPDX-License-Identifier: Apache-2.0
// Levels that latencies show and the machine does not report, as profiles keep them and teams use them.
#pragma once

#include <cstddef>
#include <vector>

#include "coset/topology.hpp"
#include "planning/calibration/rule.hpp"

namespace coset::calibration {

/// Every processor in one cluster with those near it; clusters in the order of their first member, members ascending.
using clustering = std::vector<std::vector<rank_t>>;

/// A profile's clusters of ranks, and the rules that pay as long as these clusters exist.
struct hidden_levels {
  std::vector<clustering> levels = {};  ///< nested, the finest first; the ranks of a cluster are consecutive
  std::vector<rule> rules = {};
};

/// [processor]: the number of its cluster, of so many processors.
std::vector<std::size_t> homes_of(clustering const& clusters, std::size_t processors);

/// Presents the clusters as caches: the finest as L3s, the coarsest of several as packages.
void mark(std::vector<processor>& places, std::vector<clustering> const& levels);

}  // namespace coset::calibration
