// SPDX-License-Identifier: Apache-2.0
// A second opinion on schedules: plain execution on multisets of contributors, sharing no code with validate().
#pragma once

#include "planning/schedule/core/schedule.hpp"

namespace coset::schedule {

/// Whether executing the schedule gives every rank what its verb requires. Wants a well-formed schedule.
bool executes_rightly(schedule const&);

}  // namespace coset::schedule
