// SPDX-License-Identifier: Apache-2.0
// The ranks of a schedule in another order: an operator on every algorithm, "ring(permute=3+1+0+2)".
#pragma once

#include <string>
#include <vector>

#include "planning/schedule/registry/algorithm.hpp"

namespace coset::schedule {

/// The parameter that every algorithm takes, without a default.
inline constexpr char const* permute = "permute";

bool is_permuted(algorithm const&);

/// [x]: the rank that plays rank x of the schedule; empty if the algorithm has no such parameter. A list of ranks, or
/// reverse; rotate:K, x by x + K; stride:K, 0, K, 2K ..., then 1, K + 1 ..., as ranks dealt out to K nodes lie by node;
/// random:SEED, the same shuffle everywhere; nodes:0.1.0.1, the node of each rank: those of a node are neighbours, nodes as
/// they come.
/// Throws schedule_error for what is none; for 0 ranks, for what is none of any number.
std::vector<rank_t> permutation_of(algorithm const&, rank_t ranks);

/// Its value: "stride:K" where that says it, else a list.
std::string permutation_text(std::vector<rank_t> const& order);

/// The ranks in this order, none for as they are numbered, but those of a group, group_of[rank], next to each other, where
/// the first of them is. Cost: ranks · groups.
std::vector<rank_t> neighbours(std::vector<rank_t> const& order, std::vector<rank_t> const& group_of);

/// order[x] does what rank x did; of verbs by pieces, with the piece that is its own. Wants every rank once in the
/// order, and no scan. Folds of inputs alone stay in the order of the ranks.
void permute_ranks(schedule&, std::vector<rank_t> const& order);

}  // namespace coset::schedule
