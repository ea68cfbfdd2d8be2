// SPDX-License-Identifier: Apache-2.0
// Counts the communicators that a program makes and frees, by MPI's profiling interface. For one file of a
// program.
#pragma once

#include <mpi.h>

#include <atomic>

namespace coset::measure {

struct counted {
  std::atomic<int> made = 0, freed = 0;
};
inline counted communicators;

/// Processes that do not belong to a part get none.
inline int note_made(int code, MPI_Comm const* made) {
  if (code == MPI_SUCCESS && *made != MPI_COMM_NULL) ++communicators.made;
  return code;
}

}  // namespace coset::measure

extern "C" {

int MPI_Comm_dup(MPI_Comm of, MPI_Comm* made) { return coset::measure::note_made(PMPI_Comm_dup(of, made), made); }

int MPI_Comm_create(MPI_Comm of, MPI_Group group, MPI_Comm* made) {
  return coset::measure::note_made(PMPI_Comm_create(of, group, made), made);
}

int MPI_Comm_split(MPI_Comm of, int part, int place, MPI_Comm* made) {
  return coset::measure::note_made(PMPI_Comm_split(of, part, place, made), made);
}

int MPI_Comm_split_type(MPI_Comm of, int kind, int place, MPI_Info info, MPI_Comm* made) {
  return coset::measure::note_made(PMPI_Comm_split_type(of, kind, place, info, made), made);
}

int MPI_Comm_free(MPI_Comm* which) {
  ++coset::measure::communicators.freed;
  return PMPI_Comm_free(which);
}
}
