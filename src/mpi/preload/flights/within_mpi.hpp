// SPDX-License-Identifier: Apache-2.0
// Waits of MPI's own that let operations in flight go on.
#pragma once

namespace coset::interpose {

/// In which functions of MPI's that wait operations in flight go on.
enum class brought_on { nowhere, in_collectives, everywhere };

/// From here on MPI calls `look` whenever it looks for messages, if it can be told to. Collective over MPI_COMM_WORLD, whose
/// processes hear the same: where that is so on all of them.
brought_on have_mpi_call(int (*look)());
/// Before MPI_Finalize.
void let_mpi_forget(int (*look)()) noexcept;

}  // namespace coset::interpose
