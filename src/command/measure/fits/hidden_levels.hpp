// SPDX-License-Identifier: Apache-2.0
// What becomes of clusters that have been found: words about them, and an order of the ranks.
#pragma once

#include <string>
#include <vector>

#include "coset/topology.hpp"
#include "planning/calibration/hidden.hpp"

namespace coset::calibration {

/// The levels that the machine reports for these processors, as clusters of their ranks: L3s, nodes, packages, the
/// finest first; without levels of one cluster, or of one rank per cluster.
std::vector<clustering> told_by(std::vector<processor> const& places);

/// "the machine says 4 equal cores; measured: {0,1} {2,3}", by the numbers of the operating system.
std::string told_and_measured(std::vector<processor> const& places, std::vector<clustering> const& measured);

/// An order of the processors in which the members of every cluster are consecutive.
std::vector<rank_t> consecutive(std::vector<clustering> const& levels);
/// The same clusters after processor order[r] is renamed to r.
std::vector<clustering> renumbered(std::vector<clustering> const& levels, std::vector<rank_t> const& order);

}  // namespace coset::calibration
