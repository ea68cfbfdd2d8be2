// SPDX-License-Identifier: Apache-2.0
// Copies of arrays whose elements have gaps.
#pragma once

#include <cstddef>
#include <memory>

#include "mpi/preload/handles/datatypes.hpp"

namespace coset::interpose {

using room = std::unique_ptr<std::byte[]>;
room room_of(std::size_t bytes);

/// One element's bytes after another's, as MPI_Pack() puts them.
void pack(void const* from, MPI_Count count, datatype const&, std::byte* to);
void unpack(std::byte const* from, void* to, MPI_Count count, datatype const&);

/// An image has what elements have, gaps included, `stride` bytes each; data of the first element are at its begin.
room image_of(void const* from, MPI_Count count, datatype const&);
void copy_image(std::byte const* image, void* to, MPI_Count count, datatype const&);
/// inout[i] = in[i] ∘ inout[i].
void fold_images(std::byte const* in, std::byte* inout, MPI_Count count, datatype const&, MPI_Op);
/// Whether arrays of these elements are images of themselves.
bool is_image(datatype const&);

}  // namespace coset::interpose
