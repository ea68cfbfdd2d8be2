// SPDX-License-Identifier: Apache-2.0
// The Plan JSON: a schedule and its properties in a stable form for outside programs.
#pragma once

#include <iosfwd>

#include "schedule/validate.hpp"

namespace coset::schedule {

/// Writes one JSON object, "coset_plan": 1. Fractions are strings in lowest terms; a step is a list of
/// {"rank", "block", "slot", "from": [[rank, slot], …]} in execution order; result[rank][block] is a slot or null.
/// Streams: memory does not grow with the schedule.
void write_plan(std::ostream& out, schedule const& plan, properties const& found);

}  // namespace coset::schedule
