// SPDX-License-Identifier: Apache-2.0
// The Plan JSON: a schedule and its properties in a stable form for outside programs.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "planning/schedule/core/validate.hpp"
#include "planning/schedule/files/plan_file.hpp"

namespace coset::schedule {

/// A schedule that has passed validate(), and what that found.
struct proved_plan {
  schedule plan;
  properties found;
};

/// Writes one JSON object, "coset_plan": 1. Fractions are strings in lowest terms; a step is a list of
/// {"rank", "block", "slot", "from": [[rank, slot], …]} in execution order; result[rank][block] is a slot or null.
/// "idempotent_only": true is there where contributors count more than once.
/// Streams: memory does not grow with the schedule.
void write_plan(std::ostream& out, schedule const& made, properties const& found);

/// What is stated and not so, a sentence each: "steps is 5, and 6 was found". What is left out is no contradiction.
std::vector<std::string> contradictions(statements const& stated, properties const& found);

}  // namespace coset::schedule
