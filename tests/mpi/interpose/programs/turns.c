/* SPDX-License-Identifier: Apache-2.0
 * One communicator after another, of the same processes: all of MPI_COMM_WORLD's, the same in another order, and halves. It asks for no threads. */
#include <mpi.h>
#include <stdio.h>

enum { length = 4000 };

static int rank, ranks;

/* What its processes' numbers and places make of some collectives. */
static double used(MPI_Comm on, int calls) {
  static double mine[length], all[length];
  int place;
  double before, sum = 0, both = 0;
  MPI_Comm_rank(on, &place);
  for (int call = 0; call < calls; ++call) {
    for (int i = 0; i < length; ++i) mine[i] = (rank + call) * (place + 1) + i;
    MPI_Allreduce(mine, all, length, MPI_DOUBLE, MPI_SUM, on);
    MPI_Scan(&mine[call], &before, 1, MPI_DOUBLE, MPI_SUM, on);
    MPI_Barrier(on);
    both += all[call] + all[length - 1] + before * (place + 1);
  }
  MPI_Allreduce(&both, &sum, 1, MPI_DOUBLE, MPI_SUM, on);
  return sum;
}

int main(int argc, char** argv) {
  double answer[3] = {0, 0, 0}, all[3];
  int level;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int const turns = ranks > 2 ? 60 : 300; /* more than two may have to share processors */
  for (int turn = 0; turn < turns; ++turn) {
    MPI_Comm on, nested;
    MPI_Comm_dup(MPI_COMM_WORLD, &on);
    answer[0] += used(on, turn % 40);
    MPI_Comm_free(&on);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &on);
    answer[1] += used(on, turn % 40);
    MPI_Comm_dup(on, &nested);
    MPI_Comm_free(&on);
    answer[1] += used(nested, turn % 40);
    MPI_Comm_free(&nested);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &on);
    answer[2] += used(on, turn % 40);
    MPI_Comm_free(&on);
  }
  MPI_Allreduce(answer, all, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Query_thread(&level);
  if (rank == 0) printf("answer: %.0f %.0f %.0f, at level %d\n", all[0], all[1], all[2], level);
  MPI_Finalize();
  return 0;
}
