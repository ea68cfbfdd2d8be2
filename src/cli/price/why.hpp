// SPDX-License-Identifier: Apache-2.0
// What `coset why --json` says of a call on this machine, for others who show it.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "coset/error.hpp"

namespace coset::cli {

nlohmann::ordered_json why_here(std::string const& verb, std::uint64_t bytes, rank_t ranks, bool in_place);

}  // namespace coset::cli
