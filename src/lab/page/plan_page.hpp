// SPDX-License-Identifier: Apache-2.0
// Schedules as a page for a browser: stepped through, several side by side.
#pragma once

#include <iosfwd>
#include <span>

#include "planning/schedule/files/plan_json.hpp"

namespace coset::schedule {

/// Writes one HTML file that needs no other, and no network: the schedules as Plan JSON, and a program that draws them.
/// Throws schedule_error if they are more than a browser can hold, 2^19 folds, copies and values read.
void write_page(std::ostream& out, std::span<proved_plan const>);

}  // namespace coset::schedule
