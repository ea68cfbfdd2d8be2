/* SPDX-License-Identifier: Apache-2.0
 * Processes that ask for different levels of threads, as those of several programs in one run may. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  char const* number = getenv("OMPI_COMM_WORLD_RANK");
  if (number == NULL) number = getenv("PMI_RANK");
  int level, rank, ranks, sum = 0;
  MPI_Init_thread(&argc, &argv, number != NULL && atoi(number) == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED,
                  &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int turn = 0; turn < 5; ++turn) {
    MPI_Comm on;
    MPI_Comm_dup(MPI_COMM_WORLD, &on);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, on);
    if (sum != ranks * (ranks - 1) / 2) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_free(&on);
  }
  if (rank == 0) printf("answer: %d\n", sum);
  MPI_Finalize();
  return 0;
}
