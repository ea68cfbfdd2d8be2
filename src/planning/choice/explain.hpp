// SPDX-License-Identifier: Apache-2.0
// Why a plan is chosen: all candidates with what they are expected to cost.
#pragma once

#include <string>
#include <vector>

#include "planning/choice/candidates.hpp"
#include "planning/schedule/model/proved.hpp"

namespace coset::choice {

/// A schedule with a storage, priced term by term. Seconds.
struct explained {
  answer what;
  schedule_kind kind;
  schedule::price steps;
  storage_price storage;
  double unmeasured = 0;        ///< seconds of the schedule as it is chosen, see candidates::seconds_unmeasured
  std::string removed_by = {};  ///< the rule that removes it; empty: it may be chosen

  double seconds() const { return steps.total() + storage.total(); }
};

struct explanation {
  explained chosen;
  double gain = 1;            ///< see candidates
  double choice_seconds = 0;  ///< what choose() took
  std::vector<explained>
      candidates;               ///< cheapest first: every schedule with its cheapest storage, the chosen one with all
  std::size_t not_counted = 0;  ///< schedules that are none of these, as `count` found no room for them
};

/// What choose() answers, the cheapest that no rule removes, and beside it everything that could serve. Cost: that of proving and counting some
/// forty schedules, by `count`.
explanation explain(question const&, candidates::counting const& count = schedule::count_proved);

}  // namespace coset::choice
