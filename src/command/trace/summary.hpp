// SPDX-License-Identifier: Apache-2.0
// A trace in words: where the time went, who waited for whom, who is late, what moved.
#pragma once

#include <string>

#include "command/table.hpp"
#include "runtime/trace/log.hpp"

namespace coset::cli {

std::string summary_of(trace::log const&);
/// A row for each rank that has done something: where its time went.
table shares_of(trace::log const&);

}  // namespace coset::cli
