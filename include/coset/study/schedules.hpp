// SPDX-License-Identifier: Apache-2.0
// Schedules to look at: text, pictures and JSON of what an algorithm does, and its time under a model. In a library of its
// own, coset::study, which programs that reduce do not need.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <string>

#include "coset/detail/visibility.h"
#include "coset/error.hpp"
#include "coset/verbs/verb.hpp"

namespace coset::inline COSET_ABI::study {

/// An algorithm as everywhere, "generalized(radix=4,saved_steps=1)", and whom it serves.
struct named_schedule {
  std::string algorithm;
  rank_t ranks = 1;
  verb what = verb::allreduce;
  rank_t root = 0;
};

/// Seconds per step, per byte that a rank reads from another, and per byte that it combines.
struct flat_network {
  double latency = 0, per_byte = 0, combine_per_byte = 0;
};

// All throw schedule_error saying what would do, as plans of such a name would. Cost: memory and time proportional to the
// schedule, which is proved before it is shown.

/// Step by step, whom every rank reads from and whose contributions its new values hold.
COSET_API std::string text(named_schedule const&);
/// A digraph for Graphviz, and the same as a picture.
COSET_API std::string dot(named_schedule const&);
COSET_API std::string svg(named_schedule const&);
/// Plan JSON, which `coset plan --json` prints, too.
COSET_API std::string json(named_schedule const&);

/// What a vector of `bytes` takes in a network without levels.
COSET_API double seconds(named_schedule const&, double bytes, flat_network const&);

}  // namespace coset::study
