// SPDX-License-Identifier: Apache-2.0
// Bandwidth-optimal allreduce over nodes of different sizes.
#pragma once

#include "planning/schedule/core/schedule.hpp"

namespace coset::schedule {

/// Allreduce over J nodes of c_j consecutive ranks: reduce-scatter in every node, rank i of it owning [i/c_j, (i+1)/c_j);
/// the vector cut wherever a portion of any node ends, an allreduce of each piece among its J holders, one per node, all
/// pieces at once; allgather in every node. `radix` and `saved_steps` are those of the generalized fold, saved_steps
/// between the nodes only.
/// Cost: 2·ceil(log c_max) + 2·ceil(log J) − saved_steps rounds. With saved_steps = 0 the links of a node carry
/// 2(J−1)/J vectors, the lower bound, a rank 2(c−1)/c + 2(J−1)/(J·c), and all ranks get the same bits.
schedule unequal(std::vector<rank_t> const& nodes, rank_t radix, rank_t saved_steps);

}  // namespace coset::schedule
