// SPDX-License-Identifier: Apache-2.0
// The variables that coset reads, as text and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace coset::cli {

std::string environment_text();
nlohmann::ordered_json environment_json();

}  // namespace coset::cli
