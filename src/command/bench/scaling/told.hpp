// SPDX-License-Identifier: Apache-2.0
// A file of `coset bench --scaling` as people and spreadsheets read it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "command/bench/scaling/scaling.hpp"
#include "command/table.hpp"

namespace coset::cli {

/// A ratio and its interval under this key, "1.80 [1.71, 1.88]"; empty if there is none.
std::string interval_told(nlohmann::ordered_json const& of, char const* key);
/// What limits a point, without how much: "latency of flags"; empty if it is not known.
std::string limit_told(nlohmann::ordered_json const& run);

/// What the columns mean, in comment lines.
std::string scaling_heads(topology const&, scaling_request const&);
/// Without rows: they are told as they come.
table scaling_table(scaling_request const&, std::vector<scaling_shape> const&);
/// One line for a point.
std::string scaling_line(nlohmann::ordered_json const& run, table const& like);

/// The machine's streams, and the matrices between nodes where there are several.
std::string streams_told(nlohmann::ordered_json const& file);
std::string reducers_told(nlohmann::ordered_json const& file);
/// What drifted, and which limit each size of the first verb has on the most cores.
std::string scaling_summary(nlohmann::ordered_json const& file);

/// A line for each point, stream and loop.
std::string scaling_csv(nlohmann::ordered_json const& file);

}  // namespace coset::cli
