// SPDX-License-Identifier: Apache-2.0
// Plans, with options, and what cannot be planned.
#define _POSIX_C_SOURCE 200809L  // mkstemp, ftruncate

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

enum { ranks = 3, length = 30 };

/* Ranks pass nothing for what they neither give nor get. */
static int execute_on_nothing(coset_member* me, void* context) {
  coset_plan* const* const plans = context;
  int32_t const rank = (int32_t)coset_member_rank(me);
  int32_t in[length], out[length];
  for (int i = 0; i < length; ++i) in[i] = rank + i;
  for (int round = 0; round < 3; ++round) {
    SUCCEEDS(coset_plan_execute(plans[0], me, in, rank == 1 ? out : NULL));
    for (int i = 0; i < length && rank == 1; ++i) CHECK(out[i] == 3 + 3 * i);
    memcpy(out, in, sizeof in);
    SUCCEEDS(coset_plan_execute(plans[1], me, NULL, out));
    for (int i = 0; i < length; ++i) CHECK(out[i] == 1 + i);
    SUCCEEDS(coset_plan_execute(plans[2], me, in, rank == 0 ? NULL : out));
    for (int i = 0; i < length && rank != 0; ++i) CHECK(out[i] == rank * (rank - 1) / 2 + rank * i);
    SUCCEEDS(coset_plan_execute(plans[3], me, NULL, NULL));
  }
  return 0;
}

static void plans_serve_many_times(void) {
  enum { number = 4 };
  coset_verb const verbs[number] = {COSET_VERB_REDUCE, COSET_VERB_BROADCAST, COSET_VERB_EXCLUSIVE_SCAN,
                                    COSET_VERB_BARRIER};
  coset_team* const team = team_of(ranks);
  coset_plan* plans[number];
  coset_plan_options options = COSET_PLAN_OPTIONS;
  options.root = 1;
  for (int v = 0; v < number; ++v)
    SUCCEEDS(coset_plan_create(team, verbs[v], length, COSET_INT32, COSET_PLUS, &options, &plans[v]));
  SUCCEEDS(coset_team_run(team, execute_on_nothing, plans));
  for (int v = 0; v < number; ++v) SUCCEEDS(coset_plan_free(plans[v]));
  SUCCEEDS(coset_plan_free(NULL));
  SUCCEEDS(coset_team_free(team));
}

static int gather_structs(coset_member* me, void* context) {
  int16_t all[4][2] = {{0}};
  int16_t const mine[2] = {(int16_t)coset_member_rank(me), 5};
  SUCCEEDS(coset_plan_execute(context, me, mine, all));
  CHECK(all[0][0] == 0 && all[0][1] == 5 && all[1][0] == 2 && all[1][1] == 5);
  return 0;
}

static void options_are_heeded(void) {
  coset_team* const team = team_of(ranks);
  coset_plan* plan = NULL;
  coset_plan_options options = COSET_PLAN_OPTIONS;
  options.algorithm = "ring";
  options.storage = "staged";
  options.segment_bytes = 1024;
  options.bits = COSET_PER_RANK;
  SUCCEEDS(coset_plan_create(team, COSET_VERB_ALLREDUCE, 1000, COSET_FLOAT32, COSET_PLUS, &options, &plan));
  CHECK(strstr(coset_plan_describe(plan), "ring, staged") != NULL);
  CHECK(strstr(coset_plan_describe(plan), "4 segments") != NULL);
  SUCCEEDS(coset_plan_free(plan));

  size_t const counts[ranks] = {1, 0, 1};
  coset_plan_options unequal = COSET_PLAN_OPTIONS;
  unequal.counts = counts;
  SUCCEEDS(coset_plan_create(team, COSET_VERB_ALLGATHER, 2, COSET_STRUCT(4), 0, &unequal, &plan));
  CHECK(coset_plan_count(plan) == 2);
  SUCCEEDS(coset_team_run(team, gather_structs, plan));
  SUCCEEDS(coset_plan_free(plan));
  SUCCEEDS(coset_team_free(team));
}

static int execute_abroad(coset_member* me, void* context) {
  int32_t x = 0;
  FAILS(COSET_ARGUMENT_ERROR, "another team", coset_plan_execute(context, me, &x, &x));
  SUCCEEDS(coset_member_reset(me, LONG_ENOUGH));
  FAILS(COSET_ARGUMENT_ERROR, "the plan is NULL", coset_plan_execute(NULL, me, &x, &x));
  return 0;
}

static int execute_wrongly(coset_member* me, void* context) {
  int32_t x[6] = {0};
  FAILS(COSET_ARGUMENT_ERROR, "is NULL", coset_plan_execute(context, me, NULL, x));
  SUCCEEDS(coset_member_reset(me, LONG_ENOUGH));
  FAILS(COSET_ARGUMENT_ERROR, "the place for a request", coset_plan_start(context, me, x, x, NULL));
  return 0;
}

static void wrong_plans_are_refused(void) {
  coset_team* const team = team_of(ranks);
  coset_plan* plan = NULL;
  coset_plan_options options = COSET_PLAN_OPTIONS;
  FAILS(COSET_ARGUMENT_ERROR, "no plan of allreduce_view",
        coset_plan_create(team, 9, 6, COSET_INT32, COSET_PLUS, NULL, &plan));
  FAILS(COSET_ARGUMENT_ERROR, "no verb -1", coset_plan_create(team, -1, 6, COSET_INT32, COSET_PLUS, NULL, &plan));
  FAILS(COSET_ARGUMENT_ERROR, "does not reduce",
        coset_plan_create(team, COSET_VERB_SCAN, 6, COSET_FLOAT32, COSET_BIT_OR, NULL, &plan));
  FAILS(COSET_ARGUMENT_ERROR, "the place for a plan",
        coset_plan_create(team, COSET_VERB_SCAN, 6, COSET_FLOAT32, COSET_PLUS, NULL, NULL));
  FAILS(COSET_ARGUMENT_ERROR, "that are equal",
        coset_plan_create(team, COSET_VERB_ALLGATHER, 7, COSET_INT32, 0, &options, &plan));
  FAILS(COSET_ARGUMENT_ERROR, "too many",
        coset_plan_create(team, COSET_VERB_ALLREDUCE, SIZE_MAX / 2, COSET_INT32, COSET_PLUS, &options, &plan));
  options.root = ranks;
  FAILS(COSET_ARGUMENT_ERROR, "root 3",
        coset_plan_create(team, COSET_VERB_REDUCE, 6, COSET_INT32, COSET_PLUS, &options, &plan));
  options.root = 0;
  options.algorithm = "magic";
  FAILS(COSET_SCHEDULE_ERROR, "magic",
        coset_plan_create(team, COSET_VERB_REDUCE, 6, COSET_INT32, COSET_PLUS, &options, &plan));
  options.bits = 2;
  FAILS(COSET_ARGUMENT_ERROR, "kind of bits 2",
        coset_plan_create(team, COSET_VERB_REDUCE, 6, COSET_INT32, COSET_PLUS, &options, &plan));

  SUCCEEDS(coset_plan_create(team, COSET_VERB_ALLREDUCE, 6, COSET_INT32, COSET_PLUS, NULL, &plan));
  SUCCEEDS(coset_team_run(team, execute_wrongly, plan));
  SUCCEEDS(run_on(2, execute_abroad, plan));
  SUCCEEDS(coset_plan_free(plan));
  SUCCEEDS(coset_team_free(team));
}

static int sum_by(coset_member* me, void* context) {
  int32_t items[6], i;
  for (i = 0; i < 6; ++i) items[i] = (int32_t)coset_member_rank(me) + i;
  SUCCEEDS(coset_plan_execute(context, me, COSET_IN_PLACE, items));
  for (i = 0; i < 6; ++i) CHECK(items[i] == 1 + 2 * i);
  return 0;
}

/* Rank 0 folds the whole vector, rank 1 copies it. */
static void plans_of_files_serve(void) {
  static char const right[] =
      "{\"coset_plan\": 1, \"collective\": \"allreduce\", \"algorithm\": \"mine\", \"parameters\": {}, \"root\": null, "
      "\"ranks\": 2, \"blocks\": [{\"offset\": \"0\", \"size\": \"1\"}], "
      "\"steps\": [[{\"rank\": 0, \"block\": 0, \"slot\": 1, \"from\": [[0, 0], [1, 0]]}], "
      "[{\"rank\": 1, \"block\": 0, \"slot\": 1, \"from\": [[0, 1]]}]], \"result\": [[1], [1]]}";
  char path[] = "/tmp/coset_plan_XXXXXX", algorithm[64];
  int const file = mkstemp(path);
  coset_team* const team = team_of(2);
  coset_plan* plan = NULL;
  coset_plan_options options = COSET_PLAN_OPTIONS;
  CHECK(file >= 0 && write(file, right, sizeof right - 1) == (ssize_t)(sizeof right - 1));
  snprintf(algorithm, sizeof algorithm, "plan(file=%s)", path);
  options.algorithm = algorithm;
  SUCCEEDS(coset_plan_create(team, COSET_VERB_ALLREDUCE, 6, COSET_INT32, COSET_PLUS, &options, &plan));
  CHECK(strstr(coset_plan_describe(plan), path) != NULL);
  SUCCEEDS(coset_team_run(team, sum_by, plan));
  SUCCEEDS(coset_plan_free(plan));
  CHECK(ftruncate(file, (off_t)sizeof right - 20) == 0);
  FAILS(COSET_SCHEDULE_ERROR, "is not a plan",
        coset_plan_create(team, COSET_VERB_ALLREDUCE, 6, COSET_INT32, COSET_PLUS, &options, &plan));
  close(file);
  unlink(path);
  FAILS(COSET_SCHEDULE_ERROR, "cannot be read",
        coset_plan_create(team, COSET_VERB_ALLREDUCE, 6, COSET_INT32, COSET_PLUS, &options, &plan));
  SUCCEEDS(coset_team_free(team));
}

void test_plans(void) {
  plans_serve_many_times();
  options_are_heeded();
  wrong_plans_are_refused();
  plans_of_files_serve();
}
