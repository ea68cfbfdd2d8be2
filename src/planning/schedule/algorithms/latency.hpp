// SPDX-License-Identifier: Apache-2.0
// The latency-optimal allreduce of the whole vector, for any radix.
#pragma once

#include "planning/schedule/groups/symmetric.hpp"

namespace coset::schedule {

/// ceil(log_radix P) steps of at most `radix` combines each, radix >= 2: the interval chain with all steps saved, and
/// the common parts of its two partials folded once.
/// Source: [KZ] section 9 for radix 2, extended.
schedule latency_optimal(rank_t ranks, rank_t radix);

/// The same, once for all ranks.
symmetric_schedule latency_form(rank_t ranks, rank_t radix);

}  // namespace coset::schedule
