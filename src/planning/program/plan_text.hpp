// SPDX-License-Identifier: Apache-2.0
// Plans as users write them: "direct/zero_copy+stream/256K".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "coset/plan.hpp"

namespace coset::program {

/// The inverse of plan_named().
std::string text_of(plan_options const&);

/// "512", "32K", "4m", "1G", powers of 1024. Throws argument_error quoting what it cannot read.
std::size_t parse_bytes(std::string_view);

}  // namespace coset::program
