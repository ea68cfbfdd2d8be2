// SPDX-License-Identifier: Apache-2.0
// A schedule for each of several segments of the vector, one beginning after the other.
#pragma once

#include "planning/schedule/core/schedule.hpp"

namespace coset::schedule {

/// The vector in so many equal segments, each by the same schedule, segment i from step i on: while one is on its way up a
/// tree, the next one follows it. Order and bits are those of `once`.
/// Cost: segments − 1 steps more, each of which carries for every step of `once` one segment at most. A rank may read from
/// several others in one step.
/// Throws schedule_error for none, and as require_blocks() and require_room() do for too many.
schedule staggered(schedule const& once, block_t segments);

}  // namespace coset::schedule
