// SPDX-License-Identifier: Apache-2.0
// Why a call between hosts gets its plan.
#pragma once

#include <string>

#include "choice/choose.hpp"

namespace coset::cli {

/// The ways to exchange, priced term by term, and the chosen one; as a table or as JSON. `all`: not only the cheapest.
std::string why_between(choice::question const&, bool json, bool all);

}  // namespace coset::cli
