// SPDX-License-Identifier: Apache-2.0
// What `coset why` asks of the choice, and what it says of a call on this machine, for others who do so.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "command/table.hpp"
#include "coset/topology.hpp"
#include "planning/choice/choose.hpp"

namespace coset::cli {

/// Fills in what a question depends on of the machine, and returns where the ranks are: `q.ranks` of them, or one per core.
/// Measures the memory if the machine is here.
std::vector<processor> place_on(topology const& machine, placement, bool is_here, choice::question& q);

nlohmann::ordered_json why_here(std::string const& verb, std::uint64_t bytes, rank_t ranks, bool in_place);

/// The first dozen rows, unless `all` are wanted, and whichever has ">" as its "mark".
std::string candidates_text(table const&, bool all);

}  // namespace coset::cli
