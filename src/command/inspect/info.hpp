// SPDX-License-Identifier: Apache-2.0
// What `coset info --json` says of this machine, for others who show it.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace coset::cli {

/// Measures the latencies between all cores: not while other threads run.
nlohmann::ordered_json machine_here();

}  // namespace coset::cli
