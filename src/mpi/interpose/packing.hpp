// SPDX-License-Identifier: Apache-2.0
// Copies of arrays whose elements have gaps, and copies in another order.
#pragma once

#include <functional>

#include "mpi/interpose/call.hpp"

namespace coset::interpose {

using room = std::unique_ptr<std::byte[]>;
room room_of(std::size_t bytes);

/// One element's bytes after another's, as MPI_Pack() puts them.
void pack(void const* from, MPI_Count count, datatype const&, std::byte* to);
void unpack(std::byte const* from, void* to, MPI_Count count, datatype const&);

/// An image has what elements have, gaps included, `stride` bytes each; data of the first element are at its begin.
room image_of(void const* from, MPI_Count count, datatype const&);
void copy_image(std::byte const* image, void* to, MPI_Count count, datatype const&);
/// Whether arrays of these elements are images of themselves.
bool is_image(datatype const&);

using count_of_rank = std::function<MPI_Count(int rank)>;
/// From the order of the communicator's ranks to that of the team's.
void reorder_pieces(attachment&, room& image, count_of_rank const&, datatype const&);

/// Where the team's order is not the communicator's, but has to be: everything is gathered, and each rank folds it.
prospect in_ranks_order(attachment&, arguments const&, datatype const&);

}  // namespace coset::interpose
