// SPDX-License-Identifier: Apache-2.0
// The algorithms that are fold chains over a group: their rows of the registry.
#pragma once

#include <optional>

#include "schedule/groups/symmetric.hpp"
#include "schedule/registry/algorithm.hpp"

namespace coset::schedule {

std::vector<named_algorithm> fold_algorithms();

/// The schedule of a completed algorithm, once for all ranks, before folds are nested. None for rooted verbs and scans, for
/// reduce_scatter and allgather that save steps, and for algorithms that are no folds over a group, keep rank order by
/// pairs or permute ranks.
std::optional<symmetric_schedule> symmetric_form(algorithm const&, rank_t ranks, collective);

}  // namespace coset::schedule
