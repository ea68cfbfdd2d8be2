// SPDX-License-Identifier: Apache-2.0
// The verbs whose vectors are cut at the ranks' pieces, out of an allreduce for every rank at once.
#pragma once

#include "planning/schedule/groups/symmetric.hpp"

namespace coset::schedule {

/// What derive() makes of it, rank x owning block x: reduce_scatter stops where a block is reduced on its owner, and
/// allgather copies it from there. Of allreduces in which every block is reduced on one rank alone.
symmetric_schedule reduce_scatter_of(symmetric_schedule allreduce);
symmetric_schedule allgather_of(symmetric_schedule allreduce);

}  // namespace coset::schedule
