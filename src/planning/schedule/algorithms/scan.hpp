// SPDX-License-Identifier: Apache-2.0
// Prefixes: scan ends with the contributions of ranks 0 … r on rank r, exclusive_scan with those of 0 … r − 1.
#pragma once

#include "planning/schedule/core/schedule.hpp"

namespace coset::schedule {

/// Two steps: the owner of a block writes its P prefixes in one pass, then every rank fetches its own; or one step in
/// which every rank folds all that precede it (`whole`). Ordered. Cost: 2(P−1)/P·m or (P−1)·m received.
schedule direct_scan(rank_t ranks, verb what, bool whole);

/// ceil(log2 P) steps, in step l from rank r − 2^l. Ordered. Cost: one vector received a step. Hillis and Steele.
schedule doubling_scan(rank_t ranks, verb what);

}  // namespace coset::schedule
