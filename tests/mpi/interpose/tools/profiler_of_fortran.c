// SPDX-License-Identifier: Apache-2.0
// A tool for programs in Fortran: it counts what they call as mpif.h and module mpi name it.
#include <stdio.h>

typedef int integer;
void pmpi_allreduce_(void* in, void* out, integer* count, integer* type, integer* by, integer* comm, integer* code);
void pmpi_finalize_(integer* code);

static long calls;

void mpi_allreduce_(void* in, void* out, integer* count, integer* type, integer* by, integer* comm, integer* code) {
  ++calls;
  pmpi_allreduce_(in, out, count, type, by, comm, code);
}

void mpi_finalize_(integer* code) {
  printf("tool: allreduce %ld\n", calls);
  fflush(stdout);
  pmpi_finalize_(code);
}
