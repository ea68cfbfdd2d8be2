// SPDX-License-Identifier: Apache-2.0
// A C program over processes that tests coset_mpi.h; the exit status says whether all checks of its process held.
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "c_test.h"

enum { longest_seconds = 120 };

int process(void) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int processes(void) {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

uint32_t threads_here(void) { return process() % 2 == 0 ? 2 : 3; }

struct hybrid adopted(coset_mpi_options const* options) {
  struct hybrid on = {NULL, NULL};
  SUCCEEDS(coset_team_adopt(threads_here(), NULL, &on.threads));
  SUCCEEDS(coset_mpi_team_create(MPI_COMM_WORLD, on.threads, options, &on.all));
  return on;
}

struct hybrid owning(coset_mpi_options const* options) {
  struct hybrid on = {team_of(threads_here()), NULL};
  SUCCEEDS(coset_mpi_team_create(MPI_COMM_WORLD, on.threads, options, &on.all));
  return on;
}

void end(struct hybrid on) {
  SUCCEEDS(coset_mpi_team_free(on.all));
  SUCCEEDS(coset_team_free(on.threads));
}

void in_region(coset_mpi_team* all, coset_body* body, void* context) {
#pragma omp parallel num_threads((int)threads_here())
  {
    coset_member* me = NULL;
    SUCCEEDS(coset_mpi_team_join(all, (uint32_t)omp_get_thread_num(), &me));
    if (me != NULL) {
      CHECK(body(me, context) == 0);
      SUCCEEDS(coset_team_leave(me));
    }
  }
}

static int wanted_level(char const* word) {
  if (strcmp(word, "--level=funneled") == 0) return MPI_THREAD_FUNNELED;
  if (strcmp(word, "--level=serialized") == 0) return MPI_THREAD_SERIALIZED;
  return MPI_THREAD_MULTIPLE;
}

/// [--level=funneled|serialized|multiple]
int main(int argc, char** argv) {
  alarm(longest_seconds);  // a launcher that is killed may leave its processes alone
  int const wanted = wanted_level(argc > 1 ? argv[1] : "");
  coset_team* threads = NULL;
  coset_mpi_team* all = NULL;
  SUCCEEDS(coset_team_adopt(1, NULL, &threads));
  FAILS(COSET_MPI_ERROR, "before MPI_Init_thread", coset_mpi_team_create(MPI_COMM_WORLD, threads, NULL, &all));
  int given = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, wanted, &given);
  if (given < wanted) {
    if (process() == 0) puts("this MPI does not give that level");
    MPI_Finalize();
    return 77;
  }
  test_regions();
  test_runs();
  test_refusals();
  MPI_Finalize();
  FAILS(COSET_MPI_ERROR, "after MPI_Finalize", coset_mpi_team_create(MPI_COMM_WORLD, threads, NULL, &all));
  SUCCEEDS(coset_team_free(threads));
  if (failures() != 0) fprintf(stderr, "%d checks failed\n", failures());
  return failures() != 0;
}
