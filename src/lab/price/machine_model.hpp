// SPDX-License-Identifier: Apache-2.0
// A machine and its ranks as the cost model sees them: the ranks that each level joins, and the cost of each level.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coset/topology.hpp"
#include "planning/schedule/model/cost.hpp"

namespace coset::cli {

/// Levels that join no two of the ranks are left out, and L3 caches if the machine reports none. Where the distances between
/// nodes form groups that are no packages, these are levels, too.
struct machine_model {
  std::vector<std::string>
      names;  ///< of core, l3, node, package, machine, near16 (nodes at distances up to 16): those that join ranks, innermost first
  schedule::level_machine on;  ///< a link per level; groups if equal and consecutive

  /// The first level that joins ranks of different nodes, as do those after it.
  std::size_t first_between_nodes() const;
};

/// The model with each level's default costs; a setting such as "node.beta=1e-10" changes one: a level's name, then
/// alpha, lambda, beta or link, in seconds, or fan, a part of beta; gamma is what a combined byte costs. Throws argument_error quoting a setting that is none.
machine_model model_of(topology const&, std::vector<processor> const& places, std::vector<std::string> const& settings,
                       std::optional<double> gamma = {});

/// For --help: "core.alpha=6e-08 …", all defaults.
std::string default_settings();

}  // namespace coset::cli
