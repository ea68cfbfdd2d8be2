// SPDX-License-Identifier: Apache-2.0
// Loops of updates on the ranks of a shape.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>

#include "command/bench/scaling/scaling.hpp"

namespace coset::cli {

/// Each loop that the keeper does not have, {"loop", "ranks", …}. Throws interrupted.
void measure_loops(scaling_shape const&, std::size_t rounds,
                   std::function<bool(std::string const& loop, std::size_t ranks)> const& has,
                   std::function<void(nlohmann::ordered_json)> const& take);

}  // namespace coset::cli
