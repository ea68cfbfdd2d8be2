// SPDX-License-Identifier: Apache-2.0
// One bracketing for folds of different widths.
#pragma once

#include <vector>

#include "planning/schedule/core/schedule.hpp"

namespace coset::schedule {

/// The prime factors of n, the largest first; none of 1.
std::vector<rank_t> prime_factors(rank_t n);

/// Folds of several values by folds of groups of neighbours, of as many as the prime factors of their number say, the
/// largest first: a fold of six is one of two folds of three. The reads stay the same. So folds along 3, 2 and 2 ranks
/// give the same bits as along 6 and 2, along 3 and 4, or of all 12 at once, provided that all keep the order of ranks.
schedule nested(schedule);

}  // namespace coset::schedule
