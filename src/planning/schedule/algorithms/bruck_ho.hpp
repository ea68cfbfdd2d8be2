// SPDX-License-Identifier: Apache-2.0
// Bruck and Ho's allreduce over the whole vector: n ports, any number of ranks, no value twice.
#pragma once

#include "planning/schedule/core/schedule.hpp"

namespace coset::schedule {

/// Allreduce along the digits of P − 1 in base n + 1, in cyclic rank order.
/// Cost: ceil(log_{n+1} P) rounds; d + n(k−1) vectors read and d + (k−2)(n+1) + n combines per rank (d if k = 1), for k
/// digits of which the leading one is d. Source: [E], with (20) and (21) corrected.
schedule bruck_ho(rank_t ranks, rank_t ports);

}  // namespace coset::schedule
