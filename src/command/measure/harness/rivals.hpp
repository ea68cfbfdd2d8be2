// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "command/measure/harness/contestant.hpp"

namespace coset::measure {

/// The rivals in a collective, one rank on each processor; `families` is a selection of rival_families().
contestants make_rivals(verb, std::vector<unsigned> const& processors, std::vector<std::string> const& families);
std::vector<std::string> const& rival_families();

}  // namespace coset::measure
