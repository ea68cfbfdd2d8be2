// SPDX-License-Identifier: Apache-2.0
// What a call demands of a schedule, which algorithms may serve it, and what they take at least.
#pragma once

#include <optional>
#include <vector>

#include "planning/schedule/core/validate.hpp"
#include "planning/schedule/model/cost.hpp"
#include "planning/schedule/registry/algorithm.hpp"

namespace coset::schedule {

/// What is to be served, and what the operation allows.
struct demand {
  coset::verb verb = verb::allreduce;
  rank_t ranks = 1;
  rank_t root = 0;
  bool same_bits = true;           ///< only rank_uniform schedules; false where bracketing cannot change bits, or may
  bool commutative = true;         ///< false: only ordered schedules
  bool idempotent = false;         ///< contributors may count twice: minimum, maximum, and, or
  std::vector<rank_t> nodes = {};  ///< consecutive ranks of each node, of any sizes: try what goes node by node too
};

/// An algorithm that serves a demand, with what the model needs to know of it.
struct candidate {
  algorithm how;
  properties found;
  counts work;
};

/// The algorithm made, validated and counted; nothing where it is not defined for this many ranks or cannot serve.
std::optional<candidate> count(algorithm const&, demand const&, level_machine const&);

/// Whether it is defined for this many ranks and has the properties wanted.
bool serves(algorithm const&, demand const&);

/// No schedule of the algorithm takes less: by the least number of steps that its row has, the fewest peers with which
/// everybody hears of everybody in so many, the least volume of the verb, the last link for what has to cross it, and the
/// cheapest for all else. Of many ranks only schedules with the lowest bounds are made, so it has to be close, too.
double least_seconds(algorithm const&, verb, level_machine const&, double bytes);

/// Every algorithm that is defined without a file: with radices 2, 3, 4 and 8, with all saved_steps where these are
/// logarithmic, with dims as the model's levels have them, with the nodes of the demand.
std::vector<algorithm> candidates_for(demand const&, cost_model const&);

}  // namespace coset::schedule
