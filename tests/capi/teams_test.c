// SPDX-License-Identifier: Apache-2.0
// Teams, members, statuses, bodies that fail.
#define _POSIX_C_SOURCE 200809L  // setenv
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

void test_statuses(void) {
  CHECK(coset_version() == COSET_VERSION);
  CHECK(coset_version() == COSET_PROJECT_VERSION);
  CHECK(strcmp(coset_error_message(), "") == 0);
  CHECK(strcmp(coset_status_name(COSET_SUCCESS), "COSET_SUCCESS") == 0);
  CHECK(strcmp(coset_status_name(COSET_TIMED_OUT), "COSET_TIMED_OUT") == 0);
  CHECK(strcmp(coset_status_name(COSET_UNKNOWN_ERROR), "COSET_UNKNOWN_ERROR") == 0);
  CHECK(strcmp(coset_status_name(COSET_MPI_ERROR), "COSET_MPI_ERROR") == 0);
  CHECK(strcmp(coset_status_name(-1), "unknown status") == 0);
  CHECK(strcmp(coset_status_name(1000), "unknown status") == 0);

  FAILS(COSET_ARGUMENT_ERROR, "the team is NULL", coset_team_reserve(NULL, 1));
  coset_team* const team = team_of(1);
  SUCCEEDS(coset_team_reserve(team, 1 << 20));
  CHECK(strcmp(coset_error_message(), "the team is NULL") == 0);  // success leaves it
  SUCCEEDS(coset_team_free(team));
  coset_end_idle_teams();
}

static int count_ranks(coset_member* me, void* context) {
  atomic_int* const seen = context;
  CHECK(coset_member_size(me) == 3);
  CHECK(coset_member_node(me) == COSET_UNKNOWN_NODE || coset_member_node(me) < 1024);
  atomic_fetch_add(seen, 1 << (8 * coset_member_rank(me)));
  return 0;
}

static void bodies_run_once_on_every_rank(void) {
  coset_team* const team = team_of(3);
  CHECK(coset_team_size(team) == 3);
  atomic_int seen = 0;
  SUCCEEDS(coset_team_run(team, count_ranks, &seen));
  SUCCEEDS(coset_team_run(team, count_ranks, &seen));
  CHECK(atomic_load(&seen) == 0x020202);
  FAILS(COSET_ARGUMENT_ERROR, "the body is NULL", coset_team_run(team, NULL, NULL));
  SUCCEEDS(coset_team_free(team));
  SUCCEEDS(coset_team_free(NULL));
}

static void options_say_what_team_it_is(void) {
  coset_team* team = NULL;
  SUCCEEDS(coset_team_create(NULL, &team));
  CHECK(coset_team_size(team) >= 1);
  SUCCEEDS(coset_team_free(team));

  coset_team_options options = COSET_TEAM_OPTIONS;
  options.ranks = 2;
  options.placement = COSET_UNBOUND;
  options.waiting = COSET_WAIT_BLOCK;
  SUCCEEDS(coset_team_create(&options, &team));
  CHECK(coset_team_size(team) == 2);
  SUCCEEDS(coset_team_free(team));

  FAILS(COSET_ARGUMENT_ERROR, "the place for a team", coset_team_create(&options, NULL));
  options.waiting = 7;
  FAILS(COSET_ARGUMENT_ERROR, "no waiting 7", coset_team_create(&options, &team));
  options.waiting = COSET_WAIT_AUTOMATIC;
  options.placement = -1;
  FAILS(COSET_ARGUMENT_ERROR, "no placement -1", coset_team_create(&options, &team));

  uint32_t const nowhere = 1u << 20;
  coset_team_options explicitly = COSET_TEAM_OPTIONS;
  explicitly.processor_count = 1;
  FAILS(COSET_ARGUMENT_ERROR, "processors is NULL", coset_team_create(&explicitly, &team));
  explicitly.processors = &nowhere;
  FAILS(COSET_TOPOLOGY_ERROR, "1048576", coset_team_create(&explicitly, &team));

  setenv("HWLOC_XMLFILE", "/nowhere.xml", 1);
  FAILS(COSET_TOPOLOGY_ERROR, "HWLOC_XMLFILE=/nowhere.xml cannot be read", coset_team_create(NULL, &team));
  unsetenv("HWLOC_XMLFILE");
}

static void options_may_be_of_other_versions(void) {
  coset_team* team = NULL;
  coset_team_options forgotten;
  memset(&forgotten, 0, sizeof forgotten);
  FAILS(COSET_ARGUMENT_ERROR, "begin with COSET_TEAM_OPTIONS", coset_team_create(&forgotten, &team));

  coset_team_options older = COSET_TEAM_OPTIONS;
  older.bytes = offsetof(coset_team_options, placement);
  older.ranks = 1;
  older.placement = 99;  // beyond what an older caller has
  SUCCEEDS(coset_team_create(&older, &team));
  SUCCEEDS(coset_team_free(team));

  struct {
    coset_team_options known;
    uint64_t unknown;
  } newer = {COSET_TEAM_OPTIONS, 0};
  newer.known.bytes = sizeof newer;
  newer.known.ranks = 1;
  SUCCEEDS(coset_team_create(&newer.known, &team));
  SUCCEEDS(coset_team_free(team));
  newer.unknown = 1;
  FAILS(COSET_ARGUMENT_ERROR, "the rest must be 0", coset_team_create(&newer.known, &team));
}

static int fail_on_rank_1(coset_member* me, void* context) {
  if (coset_member_rank(me) == 1) return *(int const*)context;
  FAILS(COSET_ABORTED, "rank 1", coset_barrier(me));
  return 0;
}

static int fail_in_a_call(coset_member* me, void* context) {
  (void)context;
  if (coset_member_rank(me) == 1) return coset_request_wait(NULL);
  FAILS(COSET_ABORTED, "the request is NULL", coset_barrier(me));
  return 0;
}

static int meet(coset_member* me, void* context) {
  (void)context;
  return coset_barrier(me);
}

static void bodies_that_fail_abort_their_team(void) {
  coset_team* const team = team_of(3);
  int own = 42;
  FAILS(COSET_BODY_FAILED, "rank 1: the body returned 42", coset_team_run(team, fail_on_rank_1, &own));
  SUCCEEDS(coset_team_run(team, meet, NULL));
  FAILS(COSET_ARGUMENT_ERROR, "the request is NULL", coset_team_run(team, fail_in_a_call, NULL));
  own = COSET_ARGUMENT_ERROR;  // a status, but in this run no call on that rank has failed with it
  FAILS(COSET_BODY_FAILED, "rank 1: the body returned 1", coset_team_run(team, fail_on_rank_1, &own));
  SUCCEEDS(coset_team_run(team, meet, NULL));
  SUCCEEDS(coset_team_free(team));
}

static int run_again(coset_member* me, void* context) {
  if (coset_member_rank(me) == 0)
    FAILS(COSET_ARGUMENT_ERROR, "run() inside run()", coset_team_run(context, meet, NULL));
  return 0;
}

static int abort_it(coset_member* me, void* context) {
  if (coset_member_rank(me) == 2) SUCCEEDS(coset_team_abort(context, "enough"));
  coset_status status = COSET_SUCCESS;
  while (status == COSET_SUCCESS) status = coset_barrier(me);
  FAILS(COSET_ABORTED, "enough", status);
  SUCCEEDS(coset_member_reset(me, LONG_ENOUGH));
  SUCCEEDS(coset_barrier(me));
  return 0;
}

static void teams_can_be_aborted_and_reset(void) {
  coset_team* const team = team_of(3);
  SUCCEEDS(coset_team_run(team, run_again, team));
  SUCCEEDS(coset_team_run(team, abort_it, team));
  FAILS(COSET_ARGUMENT_ERROR, "the team is NULL", coset_team_abort(NULL, "nothing"));
  SUCCEEDS(coset_team_free(team));
}

static void teams_tell_where_their_ranks_are(void) {
  coset_team* const team = team_of(3);
  int ends[2];
  CHECK(pipe(ends) == 0);
  SUCCEEDS(coset_team_run(team, meet, NULL));
  SUCCEEDS(coset_dump(team, ends[1]));
  char text[400] = "";
  CHECK(read(ends[0], text, sizeof text - 1) > 0);
  CHECK(strstr(text, "coset: a team of 3 ranks\ncoset:   ranks 0-2 have left after operation ") == text);
  close(ends[0]);
  close(ends[1]);
  FAILS(COSET_ARGUMENT_ERROR, "takes no text", coset_dump(team, -1));
  FAILS(COSET_ARGUMENT_ERROR, "the team is NULL", coset_dump(NULL, 2));
  SUCCEEDS(coset_team_free(team));
}

static int split_by_parity(coset_member* me, void* context) {
  (void)context;
  uint32_t const rank = coset_member_rank(me);
  coset_member* part = NULL;
  SUCCEEDS(coset_member_split(me, (int32_t)(rank % 2), -(int32_t)rank, &part));
  CHECK(coset_member_size(part) == (rank % 2 == 0 ? 3u : 2u));
  CHECK(coset_member_rank(part) == (rank % 2 == 0 ? (4 - rank) / 2 : (3 - rank) / 2));
  uint32_t sum = 0;
  SUCCEEDS(coset_allreduce(part, &rank, &sum, 1, COSET_UINT32, COSET_PLUS));
  CHECK(sum == (rank % 2 == 0 ? 6u : 4u));
  FAILS(COSET_ARGUMENT_ERROR, "not split", coset_member_free(me));
  FAILS(COSET_ARGUMENT_ERROR, "not joined", coset_team_leave(me));
  FAILS(COSET_ARGUMENT_ERROR, "split", coset_member_reset(part, 0));
  SUCCEEDS(coset_member_free(part));
  SUCCEEDS(coset_member_free(NULL));

  coset_member* near_ones = NULL;
  SUCCEEDS(coset_member_node_team(me, &near_ones));
  CHECK(coset_member_node(near_ones) == coset_member_node(me));
  SUCCEEDS(coset_barrier(near_ones));
  SUCCEEDS(coset_member_free(near_ones));
  FAILS(COSET_ARGUMENT_ERROR, "the place for a member", coset_member_split(me, 0, 0, NULL));
  FAILS(COSET_ARGUMENT_ERROR, "the member is NULL", coset_member_node_team(NULL, &part));
  CHECK(coset_member_rank(NULL) == 0 && coset_member_size(NULL) == 0 && coset_team_size(NULL) == 0);
  CHECK(coset_member_node(NULL) == COSET_UNKNOWN_NODE);
  CHECK(coset_plan_count(NULL) == 0 && coset_plan_describe(NULL)[0] == '\0');
  return 0;
}

void test_teams(void) {
  bodies_run_once_on_every_rank();
  options_say_what_team_it_is();
  options_may_be_of_other_versions();
  bodies_that_fail_abort_their_team();
  teams_can_be_aborted_and_reset();
  teams_tell_where_their_ranks_are();
  SUCCEEDS(run_on(5, split_by_parity, NULL));
}
