// SPDX-License-Identifier: Apache-2.0
// An MPI program of somebody else, which knows nothing of coset.
#include <mpi.h>

int main(int argc, char** argv) {
  int one = 1, sum = 0;
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 10; ++i) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return sum != 1;
}
