// SPDX-License-Identifier: Apache-2.0
// Allreduce over hosts of different sizes through a chosen number of leaders per host.
#pragma once

#include "planning/schedule/parts/part.hpp"
#include "planning/schedule/registry/algorithm.hpp"

namespace coset::schedule {

struct two_level_shape {
  std::vector<rank_t> hosts;  ///< consecutive ranks of each
  rank_t leaders = 1;         ///< of each host, its first ranks; 0, or more than a host has: all of them
  algorithm between;          ///< an allreduce among one leader of every host
  rank_t inner = 0;           ///< values combined in one pass inside a host; 0: all of them
};

/// Allreduce over J hosts of c_j ranks, of which the first k_j are leaders, leader i owning [i/k_j, (i+1)/k_j):
/// each leader folds its part of what the ranks of its host have; the vector cut wherever a part of any host ends, an
/// allreduce of each piece among its J owners, one per host, all pieces at once; every rank copies all parts.
/// A part is folded and copied along a tree that keeps rank order, or where all ranks lead by the generalized fold.
/// Cost: 2·ceil(log_inner c_max) rounds, 2 where `inner` is 0, and those of `between`. Between generalized folds with
/// nothing saved, a host's link carries 2(J−1)/J vectors each way, the lower bound, and a leader's share is 1/k of it.
/// Same bits on every rank where `between` has them. Ordered where `between` is, if hosts whose ranks all lead have at
/// most `inner` of them.
/// Throws schedule_error if a host has no rank, `inner` is 1, or `between` is not defined for J ranks.
schedule two_level(two_level_shape const&);

/// The same for reduce_scatter or allgather, in which the hosts do between them what derive() makes of `between`, with what
/// belongs to the ranks of a host as that host's piece: its leaders hand out what of it is whose, or gather it.
/// Cost: as above one way, and one round inside a host the other way.
schedule two_level(two_level_shape const&, verb);

/// One host's part of either, made for that host alone; or of reduce and broadcast, in which the hosts do between them
/// what derive() makes of `between`, and the root exchanges values with the leaders of its host.
part two_level_part(two_level_shape const&, verb, rank_t root, std::size_t host);

}  // namespace coset::schedule
