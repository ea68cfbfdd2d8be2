// SPDX-License-Identifier: Apache-2.0
// Collectives that move a piece for each rank: allgather, gather, scatter, all_to_all.
#pragma once

#include "mpi/preload/call.hpp"

namespace coset::interpose {

/// Pieces travel as bytes, as processes may describe the same data by different types.
reason move_pieces(attachment&, arguments const&, prepared&);

}  // namespace coset::interpose
