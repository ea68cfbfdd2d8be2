// SPDX-License-Identifier: Apache-2.0
// Plan JSON in: schedules that others have made, or this library in another run.
#pragma once

#include <iosfwd>
#include <map>
#include <string>

#include "planning/schedule/core/schedule.hpp"

namespace coset::schedule {

/// "properties" as a file states them, values as JSON text: {"steps", "5"}. Nothing is believed of them.
using statements = std::map<std::string, std::string>;

/// A schedule, and what its file says of it.
struct plan_file {
  schedule plan;
  statements stated = {};
};

/// The schedule of one JSON object, "coset_plan": 1, as write_plan() makes them; "properties" may be absent and are not
/// looked at, validate() measures them. "idempotent_only": true says that contributors may count more than once.
/// What it returns can be given to validate(), which still has to find out whether it does what its verb requires.
/// Throws schedule_error naming `origin` and the place for anything else: text that is no JSON, keys missing or unknown,
/// values of another type, ranks, blocks, slots or a root that are not there, fractions that are not in lowest terms or do
/// not fit, blocks that do not tile the vector, slots that are missing or written twice, and more than require_room() allows.
/// Cost: memory of some ten times the text.
plan_file read_plan(std::istream& in, std::string const& origin);

}  // namespace coset::schedule
