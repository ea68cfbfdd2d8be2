// SPDX-License-Identifier: Apache-2.0
// What storages cost beside the steps of a schedule.
#pragma once

#include <vector>

#include "planning/choice/choose.hpp"
#include "planning/schedule/model/cost.hpp"

namespace coset::choice {

/// Up to here ranks fold at once: measured with two to four, and a sum has the same bits wherever they run.
inline constexpr rank_t few = 8;

/// Seconds, by what they are spent on; see the README of this folder for where the parameters come from.
struct storage_price {
  double copies = 0;  ///< into staging or outputs and out of them
  double owners =
      0;  ///< lines that callers rewrite after others have read or written them, and stores into others' lines
  double reaching = 0;  ///< others' arrays at all
  double memory = 0;    ///< what caches do not hold
  double meeting = 0;   ///< until others need a rank's arrays no more

  double total() const { return copies + owners + reaching + memory + meeting; }
};

/// The levels of this question's ranks, and what rounds cost there. Ranks that take turns pay a turn for every one.
schedule::level_machine machine_of(question const&);

/// What steps take at these costs: within an L3 as they say, beyond it in proportion. Schedules are chosen without.
schedule::price priced_here(schedule::price steps, calibration::memory_costs const&);

/// A gather whose root would take in many pieces alone, and whose ranks are few enough to make other schedules.
bool may_gather_in_rounds(question const&);

/// Plain staging may pay however much goes through it: nobody waits for lines that others have read, as pairs exchange them or cores ask
/// for them anyway.
bool is_staged_at_length(question const&);

/// Whether the caller gets a view of a result instead of having it stored into an array of its own.
bool has_view(question const&);

/// Which storages a schedule can have depends on what it is.
enum class schedule_kind : std::uint8_t {
  whole_vector,  ///< every rank, or the root, folds all at once
  whole_rounds,  ///< … in one round for each dimension
  one_fold,      ///< every rank folds a block, all at once
  folds,         ///< … in one round for each dimension
  tree,          ///< one rank folds all
  other
};

/// The storages that can serve the question. Staging is limited: it stays as long as the team, and has been measured up to
/// these sizes.
std::vector<program::policy> storages_for(question const&, schedule_kind);

storage_price price_of(question const&, program::policy const&);

}  // namespace coset::choice
