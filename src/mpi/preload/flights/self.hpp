// SPDX-License-Identifier: Apache-2.0
// Messages of this process to itself: they complete requests, and bring data from one datatype into another.
#pragma once

#include <mpi.h>

namespace coset::interpose {

/// Of this process alone; errors are returned. Made after MPI_Init.
MPI_Comm self() noexcept;
void make_self();
/// Before MPI_Finalize.
void free_self() noexcept;

/// No two messages under way have the same. From any thread.
int take_tag();
void give_back_tag(int) noexcept;

}  // namespace coset::interpose
