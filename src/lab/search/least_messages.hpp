// SPDX-License-Identifier: Apache-2.0
// The fewest messages of any allreduce, whatever its schedule: found by looking at all of them.
#pragma once

#include <cstdint>

#include "planning/schedule/core/schedule.hpp"

namespace coset::schedule {

/// The most ranks whose histories are looked at.
inline constexpr rank_t most_searched_ranks = 6;

/// After how many messages every rank can have the sum of one element of all ranks, at the earliest.
///
/// A message carries one value: the sum of some that its sender has, of which no two count the same rank. All histories of
/// such messages are looked at, those that differ in the ranks' names once. One is left when more ranks lack the result than
/// messages remain, as each of these still has to receive one.
/// Cost: some 15 ms for five ranks, 0.6 s for six. Throws schedule_error for none or more.
/// Source: [PY], Lemma 1, which says 2(N − 1).
std::uint32_t least_messages(rank_t ranks);

}  // namespace coset::schedule
