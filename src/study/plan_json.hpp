// SPDX-License-Identifier: Apache-2.0
// The Plan JSON: a schedule and its properties in a stable form for outside programs.
#pragma once

#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "schedule/core/validate.hpp"

namespace coset::schedule {

/// Writes one JSON object, "coset_plan": 1. Fractions are strings in lowest terms; a step is a list of
/// {"rank", "block", "slot", "from": [[rank, slot], …]} in execution order; result[rank][block] is a slot or null.
/// Streams: memory does not grow with the schedule.
void write_plan(std::ostream& out, schedule const& made, properties const& found);

/// "properties" as a file states them, values as JSON text: {"steps", "5"}. Nothing is believed of them.
using statements = std::map<std::string, std::string>;

/// A schedule, and what its file says of it.
struct plan_file {
  schedule plan;
  statements stated = {};
};

/// What is stated and not so, a sentence each: "steps is 5, and 6 was found". What is left out is no contradiction.
std::vector<std::string> contradictions(statements const& stated, properties const& found);

/// The schedule of one such object; "properties" may be absent and are not looked at, validate() measures them.
/// What it returns can be given to validate(), which still has to find out whether it does what its verb requires; that
/// contributors may count more than once is not written down, so such plans are refuted there.
/// Throws schedule_error naming `origin` and the place for anything else: text that is no JSON, keys missing or unknown,
/// values of another type, ranks, blocks, slots or a root that are not there, fractions that are not in lowest terms or do
/// not fit, blocks that do not tile the vector, slots that are missing or written twice, and more than require_room() allows.
/// Cost: memory of some ten times the text.
plan_file read_plan(std::istream& in, std::string const& origin);

}  // namespace coset::schedule
