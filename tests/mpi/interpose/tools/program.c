// SPDX-License-Identifier: Apache-2.0
// Some of everything that a tool counts, an odd number of times each.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void require(int holds, char const* what) {
  if (holds) return;
  fprintf(stderr, "wrong: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  long mine = rank, sum = 0, all[64];
  for (int i = 0; i < 50; ++i) MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  require(sum == (long)size * (size - 1) / 2, "allreduce");
  for (int i = 0; i < 7; ++i) MPI_Bcast(&mine, 1, MPI_LONG, 0, MPI_COMM_WORLD);
  for (int i = 0; i < 5; ++i) MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 3; ++i) MPI_Gather(&mine, 1, MPI_LONG, all, 1, MPI_LONG, 0, MPI_COMM_WORLD);

  MPI_Request requests[2];
  for (int i = 0; i < 11; ++i) {
    MPI_Iallreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  }
  int const next = (rank + 1) % size, before = (rank + size - 1) % size;
  for (int i = 0; i < 13; ++i) {
    MPI_Irecv(&sum, 1, MPI_LONG, before, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Send(&mine, 1, MPI_LONG, next, 0, MPI_COMM_WORLD);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Isend(&mine, 1, MPI_LONG, next, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv(&sum, 1, MPI_LONG, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(1, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Send_init(&mine, 1, MPI_LONG, next, 2, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv_init(&sum, 1, MPI_LONG, before, 2, MPI_COMM_WORLD, &requests[1]);
  for (int i = 0; i < 3; ++i) {
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Start(&requests[0]), MPI_Start(&requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Request_free(&requests[0]), MPI_Request_free(&requests[1]);
  int flag;
  MPI_Iprobe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);

  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  static long many[1 << 18]; /* so many that they are worth a team */
  MPI_Allreduce(MPI_IN_PLACE, many, 1 << 18, MPI_LONG, MPI_SUM, copy);
  for (int i = 1; i < 17; ++i) MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, copy);
  MPI_Comm_free(&copy);

  MPI_File file;
  char const name[] = "of all";
  if (argc > 1) {
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    MPI_File_write_all(file, name, sizeof name, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
  }
  MPI_Finalize();
  return 0;
}
