// SPDX-License-Identifier: Apache-2.0
// Dissemination over the whole vector: n ports, ceil(log_{n+1} P) rounds.
#pragma once

#include <optional>

#include "planning/schedule/core/schedule.hpp"

namespace coset::schedule {

/// Allreduce: in round l every rank folds the values of the ranks x − j·(n+1)^(l−1), j = 1..n, to its own.
/// Exact if (n+1)^(rounds−1) divides P, else idempotent_only. Values keep cyclic rank order. Source: [E].
schedule dissemination(rank_t ranks, rank_t ports);

/// How the last round of adapted dissemination reaches P exactly: P = whole·w + prefix − omitted with w = (n+1)^(rounds−1).
struct adaptation {
  rank_t whole, prefix, omitted;
};

/// The adaptation with the smallest (omitted, whole, prefix), or none.
std::optional<adaptation> adapt(rank_t ranks, rank_t ports);

/// Allreduce: dissemination whose last round reads a prefix of its farthest value and leaves out the start of the own
/// one, so that nothing counts twice. Cyclic rank order. Throws schedule_error where no adaptation exists. Source: [E].
schedule adapted_dissemination(rank_t ranks, rank_t ports);

}  // namespace coset::schedule
