// SPDX-License-Identifier: Apache-2.0
// A program of a thousand broadcasts.
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int data[64] = {0};
  for (int i = 0; i < 1000; ++i) MPI_Bcast(data, 64, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Finalize();
}
