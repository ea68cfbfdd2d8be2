// SPDX-License-Identifier: Apache-2.0
// Communicators that do not count their ranks host by host, as teams do, where the order of ranks matters.
#pragma once

#include <functional>

#include "mpi/preload/call.hpp"
#include "mpi/preload/handles/packing.hpp"

namespace coset::interpose {

using count_of_rank = std::function<MPI_Count(int rank)>;
/// From the order of the communicator's ranks to that of the team's.
void reorder_pieces(attachment&, room& image, count_of_rank const&, datatype const&);

/// Everything is gathered, and each rank folds it.
reason in_ranks_order(attachment&, arguments const&, datatype const&, prepared&);

}  // namespace coset::interpose
