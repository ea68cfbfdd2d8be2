// SPDX-License-Identifier: Apache-2.0
// One host's part of an algorithm, by its name.
#pragma once

#include <span>

#include "planning/schedule/parts/part.hpp"
#include "planning/schedule/registry/algorithm.hpp"

namespace coset::schedule {

/// The part of the ranks hosts[host] … hosts[host + 1] − 1. two_level and two_level_scan over these very hosts cost
/// what the host's own ranks do, and what is made between hosts: for folds over groups a pass over the hosts. Everything
/// else is made for all ranks first. Throws
/// schedule_error as make() does.
part make_part(algorithm const&, std::span<rank_t const> hosts, std::size_t host, verb, rank_t root);

}  // namespace coset::schedule
