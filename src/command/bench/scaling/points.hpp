// SPDX-License-Identifier: Apache-2.0
// One shape measured: each verb and size, and beside them on the same ranks what the machine does without a collective.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "command/bench/scaling/scaling.hpp"

namespace coset::cli {

/// `bytes` in whole elements and pieces.
measure::problem point_of(scaling_request const&, verb, std::uint64_t bytes, rank_t ranks);

/// What tells a point from all others: place, ranks, verb, size and timing.
std::string key_of(nlohmann::ordered_json const& run);
std::string key_of(scaling_shape const&, verb, std::uint64_t size, measure::timing);

/// What is asked of the one who keeps the points: whether he has one of this key, and to take one that was measured.
struct point_keeper {
  std::function<bool(std::string const& key)> has;
  std::function<void(nlohmann::ordered_json run)> take;
};

/// Throws interrupted.
void measure_points(scaling_request const&, topology const&, scaling_shape const&, point_keeper const&);

}  // namespace coset::cli
