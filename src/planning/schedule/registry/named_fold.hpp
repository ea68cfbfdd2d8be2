// SPDX-License-Identifier: Apache-2.0
// The algorithms that are fold chains over a group: their rows of the registry.
#pragma once

#include <optional>

#include "planning/schedule/groups/symmetric.hpp"
#include "planning/schedule/registry/algorithm.hpp"

namespace coset::schedule {

std::vector<named_algorithm> fold_algorithms();

/// The schedule of a completed algorithm, once for all ranks, before folds are nested. None for rooted verbs and scans, for
/// reduce_scatter and allgather that save steps, and for algorithms that are no folds over a group, keep rank order by
/// pairs or permute ranks.
std::optional<symmetric_schedule> symmetric_form(algorithm const&, rank_t ranks, verb);

/// Where each of so many blocks of the symmetric form lies in the vector; none: block b is the b-th. The blocks of `product`
/// lie so that what a rank reads of another in its first round of full folds are neighbours, in the next one neighbours of
/// those that it keeps, and so on: one long fold each. Not so where verbs say whose each block is.
std::vector<block_t> block_positions(algorithm const& completed, std::size_t blocks, verb);

}  // namespace coset::schedule
