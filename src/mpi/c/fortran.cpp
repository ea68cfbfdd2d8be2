// SPDX-License-Identifier: Apache-2.0
// What module coset_mpi needs beside coset_mpi.h.
#include "coset/coset_mpi.h"

extern "C" {

coset_status coset_fortran_mpi_team_create(MPI_Fint communicator, coset_team* threads, coset_mpi_options const* options,
                                           coset_mpi_team** made) {
  return coset_mpi_team_create(MPI_Comm_f2c(communicator), threads, options, made);
}

size_t coset_fortran_mpi_team_letters(coset_mpi_team const* team) { return coset_mpi_team_describe(team, nullptr, 0); }

}  // extern "C"
