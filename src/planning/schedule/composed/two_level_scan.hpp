// SPDX-License-Identifier: Apache-2.0
// Prefixes over hosts: within each of them, then over what the hosts before it have in all.
#pragma once

#include "planning/schedule/parts/part.hpp"
#include "planning/schedule/registry/algorithm.hpp"

namespace coset::schedule {

struct two_level_scan_shape {
  std::vector<rank_t> hosts;  ///< consecutive ranks of each
  rank_t leaders = 1;         ///< of each host, its first ranks; 0, or more than a host has: all of them
  algorithm between;          ///< an exclusive scan among one leader of every host
};

/// scan or exclusive_scan over J hosts of c_j ranks, of which the first k_j are leaders, leader i owning [i/k_j, (i+1)/k_j):
/// each leader writes the prefixes of its host's ranks of its part, one after the other; the vector cut wherever a part
/// of any host ends, an exclusive scan of what each host has in all, each piece among its J owners; every rank folds that
/// of the hosts before its own with its prefix. Ordered where `between` is.
/// Cost: 3 rounds and those of `between`; a leader combines (c − 1)/k vectors.
/// Throws schedule_error if a host has no rank, or `between` is not defined for J ranks.
schedule two_level_scan(two_level_scan_shape const&, verb);

/// One host's part of it, made for that host alone.
part two_level_scan_part(two_level_scan_shape const&, verb, std::size_t host);

}  // namespace coset::schedule
