// SPDX-License-Identifier: Apache-2.0
// What a trace of several processes needs: who they are, and how far their clocks are apart.
#pragma once

#include <cstdint>

#include "mpi/transport/calls.hpp"

namespace coset::inline COSET_ABI::mpi {

/// Tells the trace which process of how many this is: in MPI_COMM_WORLD, whatever team it belongs to. Without that (MPI's
/// sessions) in `all`.
void identify_process(communicator const& all);
/// What a team over these processes is called on all of them, and no other team: `round` is its first.
std::uint64_t agreed_name(communicator const& all, std::uint32_t round);
/// Collective, where all processes record a trace: tells it how far the first one's clock is ahead. What a message and its answer take is the error: the shortest exchange out of several counts. They ask
/// the first process one after the other, some 0.1 ms each.
void align_clocks(communicator const& all);

}  // namespace coset::mpi
