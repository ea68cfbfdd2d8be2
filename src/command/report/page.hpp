// SPDX-License-Identifier: Apache-2.0
// `coset bench --report`: a page that needs nothing but itself.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace coset::cli {

/// `data` has "machine", as `coset info --json` says it, and "bench" or "scaling", as the files of --json do; beside
/// "bench" also "why", for each size what `coset why --json` says, and "csv", a text. No text in them can end the
/// element that holds them.
std::string report_page(nlohmann::ordered_json data);

}  // namespace coset::cli
