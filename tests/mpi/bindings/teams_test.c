// SPDX-License-Identifier: Apache-2.0
// Teams over processes of C programs: threads of OpenMP regions that join, and threads that run.
#include <string.h>

#include "c_test.h"

enum { length = 1000, most_ranks = 64, regions = 5 };

/// The latest of two values: the last rank's, if applied in rank order.
static void take_right(void* left, void const* right, size_t count, void* context) {
  (void)context;
  memcpy(left, right, count * sizeof(int32_t));
}

static void sums(coset_member* me) {
  int32_t const rank = (int32_t)coset_member_rank(me), size = (int32_t)coset_member_size(me);
  int32_t const triangle = size * (size - 1) / 2;
  int32_t in[length], out[length];
  for (int i = 0; i < length; ++i) in[i] = rank + i;
  SUCCEEDS(coset_allreduce(me, in, out, length, COSET_INT32, COSET_PLUS));
  for (int i = 0; i < length; ++i) CHECK(out[i] == triangle + size * i);
  memcpy(out, in, sizeof in);
  SUCCEEDS(coset_allreduce(me, COSET_IN_PLACE, out, length, COSET_INT32, COSET_PLUS));
  for (int i = 0; i < length; ++i) CHECK(out[i] == triangle + size * i);
  SUCCEEDS(coset_reduce(me, in, out, length, COSET_INT32, COSET_MAXIMUM, (uint32_t)size - 1));
  for (int i = 0; i < length && rank == size - 1; ++i) CHECK(out[i] == size - 1 + i);
  SUCCEEDS(coset_scan(me, in, out, length, COSET_INT32, COSET_PLUS));
  for (int i = 0; i < length; ++i) CHECK(out[i] == rank * (rank + 1) / 2 + (rank + 1) * i);

  coset_request started;
  SUCCEEDS(coset_start_allreduce(me, in, out, length, COSET_INT32, COSET_PLUS, &started));
  SUCCEEDS(coset_request_wait(&started));
  for (int i = 0; i < length; ++i) CHECK(out[i] == triangle + size * i);
}

static void pieces(coset_member* me) {
  uint32_t const rank = coset_member_rank(me), size = coset_member_size(me);
  uint32_t all[most_ranks], mine = 0;
  SUCCEEDS(coset_allgather(me, &rank, all, 1, COSET_UINT32));
  for (uint32_t r = 0; r < size; ++r) CHECK(all[r] == r);
  SUCCEEDS(coset_reduce_scatter(me, all, &mine, 1, COSET_UINT32, COSET_PLUS));
  CHECK(mine == rank * size);
  SUCCEEDS(coset_broadcast(me, &mine, 1, COSET_UINT32, size - 1));
  CHECK(mine == (size - 1) * size);
}

/// One reducer for each process, which its first thread has made.
static coset_reducer* counts;
static int64_t total[length];

static int combine(coset_member* me, void* context) {
  (void)context;
  uint32_t const rank = coset_member_rank(me), size = coset_member_size(me);
  for (int round = 0; round < 2; ++round) {
    void* mine = NULL;
    SUCCEEDS(coset_reducer_local_numbered(counts, rank, 0, length, &mine));
    for (int i = 0; i < length; ++i) ((int64_t*)mine)[i] += (int64_t)rank + i;
    SUCCEEDS(coset_reducer_combine_ranks(counts, total, me, round == 0 ? COSET_COMBINE_ASSIGN : COSET_COMBINE_ADD));
    for (int i = 0; i < length; ++i)
      CHECK(total[i] == (round + 1) * ((int64_t)size * (size - 1) / 2 + (int64_t)size * i));
    SUCCEEDS(coset_barrier(me));
  }
  return 0;
}

static void reducers_combine_over_processes(void) {
  struct hybrid const on = adopted(NULL), running = owning(NULL);
  SUCCEEDS(coset_reducer_create(length, COSET_INT64, COSET_PLUS, NULL, NULL, &counts));
  for (int region = 0; region < 2; ++region) in_region(on.all, combine, NULL);
  SUCCEEDS(coset_mpi_team_run(running.all, combine, NULL));
  SUCCEEDS(coset_reducer_free(counts));
  end(running);
  end(on);
}

int all_verbs(coset_member* me, void* nothing) {
  (void)nothing;
  sums(me);
  pieces(me);
  coset_operation later;
  int32_t last = (int32_t)coset_member_rank(me);
  SUCCEEDS(coset_operation_create("later", take_right, NULL, sizeof last, COSET_NONCOMMUTATIVE | COSET_EXACT, &later));
  SUCCEEDS(coset_allreduce(me, COSET_IN_PLACE, &last, 1, COSET_INT32, later));
  CHECK(last == (int32_t)coset_member_size(me) - 1);
  SUCCEEDS(coset_barrier(me));
  SUCCEEDS(coset_operation_free(later));
  return 0;
}

struct plans {
  coset_plan *summing, *gathering;
};

/// Blocking, in split phase and in place.
static int execute_plans(coset_member* me, void* context) {
  struct plans const* const plans = context;
  int32_t const size = (int32_t)coset_member_size(me);
  uint32_t all[most_ranks] = {0}, rank = coset_member_rank(me);
  int32_t out[length], mine[length];
  for (int i = 0; i < length; ++i) mine[i] = i;
  for (int turn = 0; turn < 3; ++turn) {
    coset_request started;
    SUCCEEDS(coset_plan_execute(plans->summing, me, mine, out));
    for (int i = 0; i < length; ++i) CHECK(out[i] == size * i);
    SUCCEEDS(coset_plan_start(plans->summing, me, COSET_IN_PLACE, memcpy(out, mine, sizeof out), &started));
    SUCCEEDS(coset_request_wait(&started));
    for (int i = 0; i < length; ++i) CHECK(out[i] == size * i);
    SUCCEEDS(coset_plan_execute(plans->gathering, me, &rank, all));
    for (uint32_t r = 0; r < (uint32_t)size; ++r) CHECK(all[r] == r);
  }
  return 0;
}

static void plans_serve_members(void) {
  struct hybrid const on = adopted(NULL);
  struct plans plans;
  coset_plan_options options = COSET_PLAN_OPTIONS;
  options.algorithm = "direct";
  options.storage = "staged";
  SUCCEEDS(
      coset_mpi_plan_create(on.all, COSET_VERB_ALLREDUCE, length, COSET_INT32, COSET_PLUS, &options, &plans.summing));
  CHECK(strstr(coset_plan_describe(plans.summing), "direct, staged") != NULL);
  SUCCEEDS(coset_mpi_plan_create(on.all, COSET_VERB_ALLGATHER, coset_mpi_team_size(on.all), COSET_UINT32, 0, NULL,
                                 &plans.gathering));
  for (int region = 0; region < 2; ++region) in_region(on.all, execute_plans, &plans);
  SUCCEEDS(coset_plan_free(plans.summing));
  SUCCEEDS(coset_plan_free(plans.gathering));
  end(on);
}

/// All ranks in the opposite order, and those of a node.
static int split_members(coset_member* me, void* context) {
  (void)context;
  coset_member *turned = NULL, *near = NULL;
  uint32_t const rank = coset_member_rank(me), size = coset_member_size(me);
  SUCCEEDS(coset_member_split(me, 3, -(int32_t)rank, &turned));
  CHECK(coset_member_size(turned) == size && coset_member_rank(turned) == size - 1 - rank);
  SUCCEEDS(coset_member_node_team(turned, &near));
  int32_t in = 1, all = 0, those = 0;
  SUCCEEDS(coset_allreduce(turned, &in, &all, 1, COSET_INT32, COSET_PLUS));
  SUCCEEDS(coset_allreduce(near, &in, &those, 1, COSET_INT32, COSET_PLUS));
  CHECK(all == (int32_t)size && those == (int32_t)coset_member_size(near));
  SUCCEEDS(coset_member_free(near));
  SUCCEEDS(coset_member_free(turned));
  return 0;
}

static void members_split(void) {
  struct hybrid const on = adopted(NULL), running = owning(NULL);
  for (int region = 0; region < 2; ++region) in_region(on.all, split_members, NULL);
  SUCCEEDS(coset_mpi_team_run(running.all, split_members, NULL));
  end(running);
  end(on);
}

static void teams_tell_what_they_are(struct hybrid on) {
  unsigned const here = threads_here();
  unsigned total = 0, up_to_here = 0;
  MPI_Allreduce(&here, &total, 1, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD);
  MPI_Scan(&here, &up_to_here, 1, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD);
  CHECK(coset_mpi_team_size(on.all) == total);
  CHECK(coset_mpi_team_threads(on.all) == here);
  CHECK(coset_mpi_team_first(on.all) == up_to_here - here);
  CHECK(coset_mpi_team_processes(on.all) == processes());
  CHECK(coset_mpi_team_hosts(on.all) >= 1 && coset_mpi_team_hosts(on.all) <= processes());

  char whole[1000], part[6];
  size_t const letters = coset_mpi_team_describe(on.all, whole, sizeof whole);
  CHECK(strlen(whole) == letters && strstr(whole, " ranks of ") != NULL);
  CHECK(coset_mpi_team_describe(on.all, part, sizeof part) == letters);
  CHECK(strlen(part) == sizeof part - 1 && strncmp(whole, part, sizeof part - 1) == 0);
  CHECK(coset_mpi_team_describe(on.all, NULL, 0) == letters);
}

void test_regions(void) {
  struct hybrid const on = adopted(NULL);
  teams_tell_what_they_are(on);
  for (int region = 0; region < regions; ++region) in_region(on.all, all_verbs, NULL);
  end(on);
  plans_serve_members();
  reducers_combine_over_processes();
  members_split();
}

static int returns_seven_on_last(coset_member* me, void* context) {
  (void)context;
  if (coset_member_rank(me) + 1 == coset_member_size(me)) return 7;
  coset_status const status = coset_barrier(me);
  FAILS(COSET_ABORTED, "the body returned 7", status);
  return status;
}

static int passes_a_status_on(coset_member* me, void* context) {
  (void)context;
  int32_t x = 0;
  return coset_allreduce(me, coset_member_rank(me) == 0 ? NULL : &x, &x, 1, COSET_INT32, COSET_PLUS);
}

void test_runs(void) {
  struct hybrid const on = owning(NULL);
  teams_tell_what_they_are(on);
  SUCCEEDS(coset_mpi_team_run(on.all, all_verbs, NULL));
  bool const has_last = coset_mpi_team_first(on.all) + coset_mpi_team_threads(on.all) == coset_mpi_team_size(on.all);
  FAILS(has_last ? COSET_BODY_FAILED : COSET_ABORTED, "the body returned 7",
        coset_mpi_team_run(on.all, returns_seven_on_last, NULL));
  SUCCEEDS(coset_mpi_team_run(on.all, all_verbs, NULL));
  FAILS(COSET_ARGUMENT_ERROR, "NULL", coset_mpi_team_run(on.all, passes_a_status_on, NULL));
  SUCCEEDS(coset_mpi_team_run(on.all, all_verbs, NULL));
  end(on);
}
