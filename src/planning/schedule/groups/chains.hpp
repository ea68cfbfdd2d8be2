// SPDX-License-Identifier: Apache-2.0
// The fold chains of the field. All but the lifted ones are valid over the cyclic group of their order.
#pragma once

#include "planning/schedule/groups/fold.hpp"

namespace coset::schedule {

/// Throws schedule_error if fewer than two values would be combined.
void require_radix(rank_t);

/// One step: every rank folds its block of all inputs at once. P − 1 ports.
chain direct_chain(rank_t ranks);

/// P − 1 steps, step i by shift i. [KZ] (10)–(15); valid over any group.
chain naive_chain(rank_t ranks);

/// P − 1 steps of shift 1.
chain ring_chain(rank_t ranks);

/// At most `cap` blocks a step, cap >= 1: 1 is the ring, P/2 has ceil(log2 P) steps.
chain capped_chain(rank_t ranks, rank_t cap);

/// ceil(log_radix P) steps that keep the lags an interval, radix >= 2. [KZ] section 7 with ceil(N/radix).
chain interval_chain(rank_t ranks, rank_t radix);

/// Skips of the roughly dividing sequence: 22 -> 11, 6, 3, 2, 1 for radix 2. [T] Algorithm 1.
std::vector<rank_t> skips(rank_t ranks, rank_t radix = 2);

/// ceil(log_radix P) steps with those skips. [T] for radix 2.
chain circulant_chain(rank_t ranks, rank_t radix);

/// Bruck's allgather reversed: from N lags to the largest power of the radix below N.
chain bruck_chain(rank_t ranks, rank_t radix = 2);

/// Lags left after step i are the multiples of radix^(i+1): partials are runs of ranks, in cyclic order.
chain dilated_chain(rank_t ranks, rank_t radix);

/// Appends a chain of order n, as it acts on the digit of weight `stride` where lower digits are already folded away
/// and higher ones take `outer` values. Serves products (another dimension) and towers (another digit of one cyclic group).
void append_lifted(chain& to, chain const& inner, rank_t order, rank_t stride, rank_t outer);

}  // namespace coset::schedule
