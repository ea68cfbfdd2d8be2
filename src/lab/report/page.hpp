// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace coset::cli {

/// See laboratory::report_page.
std::string report_page(nlohmann::ordered_json data);

}  // namespace coset::cli
