// SPDX-License-Identifier: Apache-2.0
// A machine and its ranks as the cost model sees them: which level joins whom, and what each level costs.
#pragma once

#include <string>
#include <vector>

#include "coset/topology.hpp"
#include "schedule/model/cost.hpp"

namespace coset::cli {

/// Levels that join no two of the ranks are left out, and L3 caches where the machine tells of none.
struct machine_model {
  std::vector<std::string> names;  ///< of core, l3, node, package, machine: those that join somebody, innermost first
  schedule::rank_levels levels;
  schedule::cost_model costs;  ///< a link per level; groups as they are where equal and consecutive

  /// Where this level and those after it join ranks of different nodes.
  std::size_t first_between_nodes() const;
};

/// What a level costs unless said otherwise; a parameter is set by "node.beta=1e-10", a level's name, then alpha, lambda
/// or beta, in seconds. Throws argument_error quoting a setting that is none.
machine_model model_of(topology const&, std::vector<processor> const& places, std::vector<std::string> const& settings);

/// For --help: "core.alpha=6e-08 …", all defaults.
std::string default_settings();

}  // namespace coset::cli
