// SPDX-License-Identifier: Apache-2.0
// What follows from the figures of a file of `coset bench --scaling`: speed-up, efficiency, drift, outliers, and what limits
// each point. It is made anew whenever a file is read or has grown.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace coset::cli {

/// Adds to a run of the file "speedup", "efficiency", "drift", "outliers", "disturbed", "has_strays", "reached" and "limit". The file has the runs of
/// one rank already.
void derive(nlohmann::ordered_json const& file, nlohmann::ordered_json& run);
/// To all of its runs and reducers.
void derive_all(nlohmann::ordered_json& file);

}  // namespace coset::cli
