// SPDX-License-Identifier: Apache-2.0
// The options by which several subcommands name a machine and the placement of ranks on it.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "coset/topology.hpp"

namespace coset::cli {

/// The machine that --topology names: "machine" is this one, a file is hwloc's XML, anything else a synthetic
/// description like "node:2 core:4 pu:1". Throws topology_error quoting what cannot be read, or what hwloc crashes on.
topology machine_named(std::string const& text);

/// This machine as `read` finds it, or the one by which the environment replaces it. Throws as machine_named().
topology this_machine(std::function<topology()> const& read = &topology::machine);

/// This machine, to be measured. Throws argument_error if the environment replaces it by another.
topology machine_to_measure();

/// "HWLOC_XMLFILE": the variables that replace this machine by another.
std::string variables_of_other_machine();

/// Ranks may share processors, up to a limit. Throws argument_error beyond it.
void require_room_for(rank_t ranks, topology const&);

/// "compact" or "scatter".
CLI::Option* add_place(CLI::App&, std::string& place);
placement placement_named(std::string const& place);

/// How many of the ranks each node has, if those of a node are consecutive; else empty.
std::vector<rank_t> ranks_by_node(std::vector<processor> const& places);

}  // namespace coset::cli
