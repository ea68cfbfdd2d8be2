// SPDX-License-Identifier: Apache-2.0
// A C program of somebody else, of one process: every rank gets the sum over all ranks, or the exit status says that not.
#include <coset/coset_mpi.h>
#include <stdio.h>

static int sum_up(coset_member* me, void* context) {
  (void)context;
  int32_t const mine = (int32_t)coset_member_rank(me) + 1;
  int32_t total = 0;
  coset_status const status = coset_allreduce(me, &mine, &total, 1, COSET_INT32, COSET_PLUS);
  return status != COSET_SUCCESS ? status : total != 3;
}

int main(int argc, char** argv) {
  int given = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &given);
  coset_team_options options = COSET_TEAM_OPTIONS;
  options.ranks = 2;
  options.placement = COSET_UNBOUND;
  coset_team* threads = NULL;
  coset_mpi_team* all = NULL;
  coset_status status = coset_team_create(&options, &threads);
  if (status == COSET_SUCCESS) status = coset_mpi_team_create(MPI_COMM_WORLD, threads, NULL, &all);
  if (status == COSET_SUCCESS) status = coset_mpi_team_run(all, sum_up, NULL);
  if (status != COSET_SUCCESS) fprintf(stderr, "%s: %s\n", coset_status_name(status), coset_error_message());
  coset_mpi_team_free(all);
  coset_team_free(threads);
  MPI_Finalize();
  return status != COSET_SUCCESS;
}
