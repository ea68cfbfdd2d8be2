// SPDX-License-Identifier: Apache-2.0
// `coset why sparse_reduction`: what a sparse reducer of a team over processes sends.
#pragma once

#include <string>
#include <vector>

#include "command/why/why_scatter.hpp"

namespace coset::cli {

/// Processes of so many ranks each, and what a byte between them takes.
std::string why_sparse(asked_scatter const&, std::vector<rank_t> const& ranks, double seconds_of_byte, formats const&);

}  // namespace coset::cli
