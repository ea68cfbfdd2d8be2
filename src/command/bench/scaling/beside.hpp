// SPDX-License-Identifier: Apache-2.0
// Two files of `coset bench --scaling` side by side.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace coset::cli {

/// What both have measured: for each point and stream the figures of both and how many times faster `ours` is, with an
/// interval. {"ours": host, "theirs": host, "points": …, "streams": …}
nlohmann::ordered_json laid_beside(nlohmann::ordered_json const& ours, nlohmann::ordered_json const& theirs);
std::string beside_told(nlohmann::ordered_json const& laid);

}  // namespace coset::cli
