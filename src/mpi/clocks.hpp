// SPDX-License-Identifier: Apache-2.0
// How far the clocks of processes are apart.
#pragma once

#include "mpi/transport/calls.hpp"

namespace coset::mpi {

/// Collective, where all processes record a trace: tells it which process of how many this is, and how far the first one's
/// clock is ahead. What a message and its answer take is the error: the shortest exchange out of several counts. They ask
/// the first process one after the other, some 0.1 ms each.
void align_clocks(communicator const& all);

}  // namespace coset::mpi
