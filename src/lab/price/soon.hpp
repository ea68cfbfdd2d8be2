// SPDX-License-Identifier: Apache-2.0
// All algorithms that are tried, as far as they can be counted within some seconds.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "planning/schedule/registry/algorithm.hpp"

namespace coset::cli {

/// Visits each, with progress on a terminal. Those that are not defined for so many ranks are left out silently; what is
/// returned names those that would have to be written out for too many: "" or a line.
std::string visit_soon(std::vector<schedule::algorithm> const& all, rank_t ranks,
                       std::function<void(schedule::algorithm const&)> const& visit);

}  // namespace coset::cli
