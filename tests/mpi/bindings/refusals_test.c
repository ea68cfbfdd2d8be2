// SPDX-License-Identifier: Apache-2.0
// Wrong calls of C programs over processes, and disagreements: the statuses, and how the team works again.
#include <omp.h>
#include <stdint.h>
#include <string.h>

#include "c_test.h"

static int nothing(coset_member* me, void* context) {
  (void)me, (void)context;
  return 0;
}

static void nobody_has_properties(void) {
  char text[10] = "untouched";
  CHECK(coset_mpi_team_size(NULL) == 0 && coset_mpi_team_first(NULL) == 0 && coset_mpi_team_threads(NULL) == 0);
  CHECK(coset_mpi_team_processes(NULL) == 0 && coset_mpi_team_hosts(NULL) == 0);
  CHECK(coset_mpi_team_describe(NULL, text, sizeof text) == 0 && strcmp(text, "") == 0);
  SUCCEEDS(coset_mpi_team_free(NULL));
}

/// Found before the processes meet.
static void arguments_are_checked(void) {
  coset_team* const threads = team_of(1);
  coset_mpi_team* all = NULL;
  coset_member* me = NULL;
  FAILS(COSET_ARGUMENT_ERROR, "the team of threads", coset_mpi_team_create(MPI_COMM_WORLD, NULL, NULL, &all));
  FAILS(COSET_ARGUMENT_ERROR, "the place for a team", coset_mpi_team_create(MPI_COMM_WORLD, threads, NULL, NULL));
  FAILS(COSET_ARGUMENT_ERROR, "MPI_COMM_NULL", coset_mpi_team_create(MPI_COMM_NULL, threads, NULL, &all));
  coset_mpi_options options = COSET_MPI_OPTIONS;
  options.bytes = 0;
  FAILS(COSET_ARGUMENT_ERROR, "COSET_MPI_OPTIONS", coset_mpi_team_create(MPI_COMM_WORLD, threads, &options, &all));
  struct {
    coset_mpi_options known;
    int32_t unknown;
  } newer = {COSET_MPI_OPTIONS, 1};
  newer.known.bytes = sizeof newer;
  FAILS(COSET_ARGUMENT_ERROR, "must be 0", coset_mpi_team_create(MPI_COMM_WORLD, threads, &newer.known, &all));
  CHECK(all == NULL);
  FAILS(COSET_ARGUMENT_ERROR, "the team is NULL", coset_mpi_team_run(NULL, nothing, NULL));
  FAILS(COSET_ARGUMENT_ERROR, "the team is NULL", coset_mpi_team_join(NULL, 0, &me));
  FAILS(COSET_ARGUMENT_ERROR, "the team is NULL", coset_mpi_team_reset(NULL));
  coset_plan* plan = NULL;
  FAILS(COSET_ARGUMENT_ERROR, "the team is NULL",
        coset_mpi_plan_create(NULL, COSET_VERB_BARRIER, 0, COSET_INT8, 0, NULL, &plan));
  SUCCEEDS(coset_team_free(threads));
}

static void each_kind_of_threads_has_its_calls(void) {
  struct hybrid const on = adopted(NULL), running = owning(NULL);
  coset_member *me = NULL, *twice = NULL;
  FAILS(COSET_ARGUMENT_ERROR, "the body is NULL", coset_mpi_team_run(running.all, NULL, NULL));
  FAILS(COSET_ARGUMENT_ERROR, "run() on a team of adopted threads", coset_mpi_team_run(on.all, nothing, NULL));
  FAILS(COSET_ARGUMENT_ERROR, "call run()", coset_mpi_team_join(running.all, 0, &me));
  FAILS(COSET_ARGUMENT_ERROR, "the next run() is one", coset_mpi_team_reset(running.all));
  me = (coset_member*)on.all;
  FAILS(COSET_ARGUMENT_ERROR, "there is no thread 3", coset_mpi_team_join(on.all, 3, &me));
  CHECK(me == NULL);
  FAILS(COSET_ARGUMENT_ERROR, "the place for a member", coset_mpi_team_join(on.all, 0, NULL));
  SUCCEEDS(coset_mpi_team_join(on.all, 0, &me));
  FAILS(COSET_ARGUMENT_ERROR, "is in the team already", coset_mpi_team_join(on.all, 0, &twice));
  FAILS(COSET_ARGUMENT_ERROR, "have to leave it first", coset_mpi_team_reset(on.all));
  FAILS(COSET_ARGUMENT_ERROR, "not split", coset_member_free(me));
  SUCCEEDS(coset_team_leave(me));
  in_region(on.all, all_verbs, NULL);
  SUCCEEDS(coset_mpi_team_run(running.all, all_verbs, NULL));
  end(running);
  end(on);
}

static void options_are_heeded(void) {
  coset_mpi_options options = COSET_MPI_OPTIONS;
  options.staging_bytes = 0;
  struct hybrid const on = owning(&options);
  char text[1000];
  coset_mpi_team_describe(on.all, text, sizeof text);
  CHECK(strstr(text, "within hosts") == NULL);
  SUCCEEDS(coset_mpi_team_run(on.all, all_verbs, NULL));
  end(on);
  if (processes() == 1) return;

  coset_team* const threads = team_of(1);
  coset_mpi_team* all = NULL;
  options.staging_bytes = 65536 + (size_t)process();
  FAILS(COSET_MPI_ERROR, "other options", coset_mpi_team_create(MPI_COMM_WORLD, threads, &options, &all));
  SUCCEEDS(coset_team_free(threads));
}

/// Process 0 never calls: the others wait no longer than the options say.
static void deadlines_are_heeded(void) {
  if (processes() == 1) return;
  coset_mpi_options options = COSET_MPI_OPTIONS;
  options.nanoseconds = 50000000;
  struct hybrid const on = owning(&options);
  if (process() != 0) FAILS(COSET_MPI_ERROR, "", coset_mpi_team_run(on.all, all_verbs, NULL));
  MPI_Barrier(MPI_COMM_WORLD);
  if (process() == 0) FAILS(COSET_MPI_ERROR, "", coset_mpi_team_run(on.all, all_verbs, NULL));
  end(on);
}

/// Every rank hears of it, as it joins or later.
static void disagree(coset_mpi_team* all) {
#pragma omp parallel num_threads((int)threads_here())
  {
    int32_t x[2] = {0};
    coset_member* me = NULL;
    coset_status status = coset_mpi_team_join(all, (uint32_t)omp_get_thread_num(), &me);
    size_t const count = coset_member_rank(me) == 0 ? 2 : 1;
    if (status == COSET_SUCCESS) status = coset_allreduce(me, COSET_IN_PLACE, x, count, COSET_INT32, COSET_PLUS);
    if (status == COSET_SUCCESS) status = coset_barrier(me);
    FAILS(COSET_MISMATCH_ERROR, "allreduce of 2", status);
    SUCCEEDS(coset_team_leave(me));
  }
}

/// So does whoever joins afterwards, until all processes have reset the team.
static void disagreements_last_until_a_reset(void) {
  struct hybrid const on = adopted(NULL);
  for (int turn = 0; turn < 2; ++turn) {
    disagree(on.all);
    coset_member* me = NULL;
    FAILS(COSET_MISMATCH_ERROR, "", coset_mpi_team_join(on.all, 0, &me));
    SUCCEEDS(coset_mpi_team_reset(on.all));
    in_region(on.all, all_verbs, NULL);
    MPI_Barrier(MPI_COMM_WORLD);  // ranks that are still in a verb would hear of the next disagreement
  }
  end(on);
}

static void members_share_no_memory(void) {
  struct hybrid const on = adopted(NULL), running = owning(NULL);
  coset_plan* plan = NULL;
  FAILS(COSET_ARGUMENT_ERROR, "the place for a plan",
        coset_mpi_plan_create(on.all, COSET_VERB_BARRIER, 0, COSET_INT8, 0, NULL, NULL));
  FAILS(COSET_ARGUMENT_ERROR, "no verb 100",
        coset_mpi_plan_create(on.all, 100, 0, COSET_INT8, COSET_PLUS, NULL, &plan));
  end(running);
  end(on);
}

void test_refusals(void) {
  nobody_has_properties();
  arguments_are_checked();
  each_kind_of_threads_has_its_calls();
  members_share_no_memory();
  options_are_heeded();
  deadlines_are_heeded();
  disagreements_last_until_a_reset();
}
