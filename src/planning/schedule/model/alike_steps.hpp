// SPDX-License-Identifier: Apache-2.0
// Steps in which all ranks do the same, or the root alone does: known without writing a schedule out.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "planning/schedule/core/schedule.hpp"
#include "planning/schedule/groups/symmetric.hpp"

namespace coset::schedule {

/// A step of a group's ranks. In parts of a vector.
struct alike_step {
  std::vector<std::pair<element, std::int64_t>> reads = {};  ///< rank x from x + displacement, so much
  std::int64_t combined = 0;
  rank_t period = 1, run = 1;  ///< of the ranks with x % period < run
  bool gives = false;          ///< these do not read, but are read by the ranks x + displacement

  bool is_of_all() const { return run == period && !gives; }
};

/// One after the other, with how many parts a vector has.
struct alike_steps {
  group ranks;
  std::int64_t parts;
  std::vector<alike_step> steps = {};
  bool by_whole_digits = false;  ///< each step reads from all that differ in a digit: whoever does so finds the same
};

alike_steps steps_of(symmetric_schedule const&);

/// Of "product" with these dimensions, or for a single one of "direct", as counts find them in the schedule; of broadcasts
/// with what a root reads back of its own, and of scans, of one dimension, as much as the busiest rank has at most. Saved
/// steps are those of whole schedules: reduce_scatter and allgather, which are halves, have none.
alike_steps steps_of_product(std::vector<rank_t> const& dimensions, std::uint32_t saved_steps, verb);

}  // namespace coset::schedule
