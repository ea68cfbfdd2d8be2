// SPDX-License-Identifier: Apache-2.0
// Threads of the caller's own as ranks.
#include <pthread.h>

#include "check.h"

struct own_thread {
  coset_team* team;
  uint32_t rank;
  bool fails;
};

static void* join_and_sum(void* argument) {
  struct own_thread const* const self = argument;
  coset_member* me = NULL;
  SUCCEEDS(coset_team_join(self->team, self->rank, LONG_ENOUGH, &me));
  if (me == NULL) return NULL;
  CHECK(coset_member_rank(me) == self->rank);
  if (self->fails) {
    SUCCEEDS(coset_team_abort(self->team, "no more"));
    FAILS(COSET_ABORTED, "no more", coset_barrier(me));
  } else {
    double const mine = self->rank + 1.0;
    double sum = 0;
    coset_status const status = coset_allreduce(me, &mine, &sum, 1, COSET_FLOAT64, COSET_PLUS);
    if (status == COSET_SUCCESS)
      CHECK(sum == 6);
    else
      FAILS(COSET_ABORTED, "no more", status);
  }
  FAILS(COSET_ARGUMENT_ERROR, "not split", coset_member_free(me));
  SUCCEEDS(coset_team_leave(me));
  return NULL;
}

static void run_threads(coset_team* team, uint32_t failing) {
  enum { ranks = 3 };
  pthread_t threads[ranks];
  struct own_thread selves[ranks];
  for (uint32_t r = 0; r < ranks; ++r) {
    selves[r] = (struct own_thread){team, r, r == failing};
    CHECK(pthread_create(&threads[r], NULL, join_and_sum, &selves[r]) == 0);
  }
  for (uint32_t r = 0; r < ranks; ++r) CHECK(pthread_join(threads[r], NULL) == 0);
}

static int nothing(coset_member* me, void* context) {
  (void)me, (void)context;
  return 0;
}

void test_adopted_teams(void) {
  coset_team* team = NULL;
  coset_team_options options = COSET_TEAM_OPTIONS;
  options.waiting = COSET_WAIT_YIELD;
  SUCCEEDS(coset_team_adopt(3, &options, &team));
  CHECK(coset_team_size(team) == 3);
  run_threads(team, 3);
  run_threads(team, 1);
  run_threads(team, 3);

  coset_member* me = NULL;
  FAILS(COSET_TIMED_OUT, "found only 1 of 3", coset_team_join(team, 0, 1000000, &me));
  me = (coset_member*)&options;
  FAILS(COSET_ARGUMENT_ERROR, "no rank 3", coset_team_join(team, 3, 0, &me));
  CHECK(me == NULL);
  FAILS(COSET_ARGUMENT_ERROR, "the place for a member", coset_team_join(team, 0, 0, NULL));
  FAILS(COSET_ARGUMENT_ERROR, "run() on an adopted team", coset_team_run(team, nothing, NULL));
  SUCCEEDS(coset_team_leave(NULL));
  SUCCEEDS(coset_team_free(team));

  FAILS(COSET_ARGUMENT_ERROR, "0 ranks", coset_team_adopt(0, NULL, &team));
  FAILS(COSET_ARGUMENT_ERROR, "the place for a team", coset_team_adopt(1, NULL, NULL));
  team = team_of(1);
  FAILS(COSET_ARGUMENT_ERROR, "join() on a team that has threads", coset_team_join(team, 0, 0, &me));
  SUCCEEDS(coset_team_free(team));
}
