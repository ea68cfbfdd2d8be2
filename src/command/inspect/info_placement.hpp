// SPDX-License-Identifier: Apache-2.0
// The places of ranks: as a table, as a tree, and as warnings.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "command/table.hpp"
#include "coset/topology.hpp"

namespace coset::cli {

/// A row per rank.
table placement_table(topology const&, std::vector<processor> const& places);

/// Packages, nodes, L3s if there are any, and cores with the ranks in them; neighbours that look alike share a line.
std::string placement_tree(topology const&, std::vector<processor> const& places);

/// The number of a processor's L3; null if the machine reports none.
nlohmann::ordered_json l3_json(topology const&, processor const&);

/// {"placement": [a rank each], "tree": [packages]}; processors and nodes by the system's numbers, the rest as counted
/// in struct processor, as in the table.
nlohmann::ordered_json placement_json(topology const&, std::vector<processor> const& places);

/// What was observed when a team ran.
struct placement_findings {
  unsigned usable = 0;  ///< processors that it may use at once, by mask and quota
  bool pinned = true;   ///< as wanted; else `seen` is ignored
  std::vector<unsigned> seen =
      {};  ///< [rank] a processor that its thread was seen on, another than its own if there was
};

/// One sentence for each of: ranks that share a core, fewer processors than ranks, threads that left their processor.
std::vector<std::string> placement_warnings(std::vector<processor> const& places, placement_findings const&);

/// The processors that ranks of a team on these places run on, observed for some milliseconds.
std::vector<unsigned> processors_seen(topology const&, std::vector<processor> const& places, placement);

}  // namespace coset::cli
