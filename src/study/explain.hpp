// SPDX-License-Identifier: Apache-2.0
// Why a plan is chosen: all candidates with what they are expected to cost.
#pragma once

#include <vector>

#include "choice/candidates.hpp"

namespace coset::choice {

/// A schedule with a storage, priced term by term. Seconds.
struct explained {
  answer what;
  schedule_kind kind;
  schedule::price steps;
  storage_price storage;

  double seconds() const { return steps.total() + storage.total(); }
};

struct explanation {
  explained chosen;
  double gain = 1;            ///< see candidates
  double choice_seconds = 0;  ///< what choose() took
  std::vector<explained>
      candidates;  ///< cheapest first: every schedule with its cheapest storage, the chosen one with all
};

/// What choose() answers, and beside it everything that could serve. Cost: that of making and counting some forty
/// schedules.
explanation explain(question const&);

}  // namespace coset::choice
