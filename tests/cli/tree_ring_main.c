/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a generated tree ring over MPI for many counts, fewer where processes are many, in place and not, and compares with the
   known sums. */
#include <mpi.h>
#include <stdio.h>

enum { most = 100 };

int tree_ring_allreduce(const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm);

int main(int argc, char** argv) {
  int rank, ranks, n, i, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (n = 0; n <= most; n += ranks > 8 ? 11 : 1) {
    double in[most], out[most];
    for (i = 0; i < n; ++i) in[i] = out[i] = rank + 1 + 1000.0 * i;
    wrong += tree_ring_allreduce(n % 2 ? in : MPI_IN_PLACE, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD) != MPI_SUCCESS;
    for (i = 0; i < n; ++i) wrong += out[i] != ranks * (ranks + 1) / 2 + 1000.0 * i * ranks;
  }
  if (wrong != 0) printf("rank %d: %d wrong\n", rank, wrong);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return wrong != 0;
}
