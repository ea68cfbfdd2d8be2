// SPDX-License-Identifier: Apache-2.0
// What a verb demands of a schedule: whose contributions each rank must end with, block by block.
#pragma once

#include <string_view>
#include <vector>

#include "planning/schedule/core/rank_range.hpp"
#include "planning/schedule/core/schedule.hpp"

namespace coset::schedule {

/// What the verb of a schedule requires. Keeps a reference to the schedule.
class requirements {
 public:
  /// Throws schedule_error if the verb is rooted and the root is no rank, or if its vector is made of pieces and a block
  /// spans the pieces [r/P, (r+1)/P) of several ranks.
  explicit requirements(schedule const&);

  /// The contributors that `rank` must end with in `block`; empty: it ends with nothing.
  rank_range operator()(rank_t rank, block_t block) const;

  /// Whether slot 0 exists: broadcast, allgather, gather and scatter start with a block on its origin only.
  bool has_input(rank_t rank, block_t block) const;

 private:
  schedule const& schedule_;
  std::vector<rank_t> owners_;  // by block: whose piece it is in; of all_to_all how far it goes
};

/// The verb that the command line calls "reduce_scatter". Names of none that has schedules throw schedule_error listing all.
verb scheduled_verb(std::string_view name);

}  // namespace coset::schedule
