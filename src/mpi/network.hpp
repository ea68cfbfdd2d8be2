// SPDX-License-Identifier: Apache-2.0
// What a message between hosts costs.
#pragma once

#include "mpi/process_map.hpp"
#include "planning/schedule/model/cost.hpp"

namespace coset::inline COSET_ABI::mpi {

/// Collective. What domains pay to reach each other, by messages that the first process of each sends to the next one's,
/// all at once: the slowest counts, so that all processes know the same. `speaks`: of the first process of a domain.
/// Cost: some 150 short messages, and of each domain's link six times what it carries in 2 ms, at most 24 MiB.
schedule::link measured_network(communicator const& all, bool speaks);

}  // namespace coset::mpi
