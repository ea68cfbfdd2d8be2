// SPDX-License-Identifier: Apache-2.0
// Files of `coset bench --scaling --json` that are read again.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "command/bench/scaling/scaling.hpp"

namespace coset::cli {

/// With what follows from its figures. Throws argument_error if it is no such file, or of a layout before this one.
nlohmann::ordered_json scaling_file(std::string const& name);

/// What was asked for, so that a run can go on.
nlohmann::ordered_json asked_json(scaling_request const&);
/// The same request, but for the files.
scaling_request request_of(nlohmann::ordered_json const& file);

/// Throws argument_error unless `file` was measured on this machine with this library, of which `facts` and `machine` tell.
void require_same(nlohmann::ordered_json const& file, nlohmann::ordered_json const& now, std::string const& name);

}  // namespace coset::cli
