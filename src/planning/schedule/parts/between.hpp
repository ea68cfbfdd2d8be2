// SPDX-License-Identifier: Apache-2.0
// What hosts do among one another, one rank of each.
#pragma once

#include <optional>

#include "planning/schedule/parts/part_of.hpp"
#include "planning/schedule/registry/algorithm.hpp"

namespace coset::schedule {

/// One rank's part of a completed algorithm in which no rank shares memory with another, without writing it out for all.
/// None where symmetric_form() has none.
std::optional<part> part_of_fold(algorithm const&, rank_t ranks, rank_t rank, verb, part_options const& = {});

/// One host's part of an algorithm among so many hosts, blocks merged that are treated alike there. Folds over groups are not
/// written out for all hosts.
part between_hosts_part(algorithm const&, rank_t hosts, rank_t host, verb, rank_t root, part_options const&);

}  // namespace coset::schedule
