// SPDX-License-Identifier: Apache-2.0
// MPI's operations as those of coset.h.
#pragma once

#include <mpi.h>

#include "mpi/preload/handles/datatypes.hpp"

namespace coset::interpose {

/// How elements of a datatype are combined: as elements of coset.h.
struct combination {
  coset_type elements = 0;  ///< 0: MPI does not define the operation for the datatype, or this layer does not know it
  coset_operation by = 0;
  std::size_t bytes = 1;  ///< of an element
  bool in_order = false;  ///< it does not commute
};

/// The same on every process for the same arguments. Numbers are combined by the library's own kernels, all else by
/// MPI_Reduce_local(), so that pairs, wide numbers and programs' own operations give what MPI gives.
combination combination_of(MPI_Op, datatype const&);
/// Whether all ways to combine vectors give the same bits: of whole numbers and truth values. Not of real ones, even of two processes,
/// as MPI rounds as the calling thread does and a team as the thread that made it. The same on every process for the same arguments.
bool is_exact(MPI_Op, datatype const&) noexcept;
/// After MPI_Init: which of its own operations this MPI carries out.
void learn_operations();

/// Of MPI_Op_free and MPI_Type_free: no new combination uses the handle; what is known of it ends.
void forget_operation(MPI_Op) noexcept;
void forget_operations_on(MPI_Datatype) noexcept;

}  // namespace coset::interpose
