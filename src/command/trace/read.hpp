// SPDX-License-Identifier: Apache-2.0
// Traces out of files.
#pragma once

#include <string>
#include <vector>

#include "runtime/trace/log.hpp"

namespace coset::cli {

/// Throws coset::error naming the file and what is wrong with it.
trace::log read_trace(std::string const& file);
/// What trace::json_of() has written. Throws std::exception where it is something else.
trace::log trace_in(std::string text);
/// One log of all processes, ordered by rank, on the clock that they have in common.
trace::log merged(std::vector<trace::log> const&);

}  // namespace coset::cli
