// SPDX-License-Identifier: Apache-2.0
// Started collectives: as many as can be under way, waited for in another order than started.
#include <stdatomic.h>
#include <string.h>
#include <threads.h>

#include "check.h"

enum { ranks = 3, length = 40 };

static int start_all(coset_member* me, void* context) {
  int32_t* const shared = context;
  uint32_t const rank = coset_member_rank(me);
  int32_t in[ranks * length], reduced[length], rooted[length], scanned[length], before[length] = {0};
  int32_t scattered[length], gathered[ranks * length], sent[length];
  for (int i = 0; i < ranks * length; ++i) in[i] = (int32_t)rank + i;
  for (int i = 0; i < length; ++i) sent[i] = (int32_t)rank;

  coset_request all[8];
  SUCCEEDS(coset_start_allreduce(me, in, reduced, length, COSET_INT32, COSET_PLUS, &all[0]));
  SUCCEEDS(coset_start_reduce_shared(me, in, shared, length, COSET_INT32, COSET_MAXIMUM, &all[1]));
  SUCCEEDS(coset_start_reduce(me, in, rooted, length, COSET_INT32, COSET_MINIMUM, 1, &all[2]));
  SUCCEEDS(coset_start_scan(me, in, scanned, length, COSET_INT32, COSET_PLUS, &all[3]));
  SUCCEEDS(coset_start_exclusive_scan(me, in, before, length, COSET_INT32, COSET_MAXIMUM, &all[4]));
  SUCCEEDS(coset_start_reduce_scatter(me, in, scattered, length, COSET_INT32, COSET_PLUS, &all[5]));
  SUCCEEDS(coset_start_allgather(me, in, gathered, length, COSET_INT32, &all[6]));
  SUCCEEDS(coset_start_broadcast(me, sent, length, COSET_INT32, 2, &all[7]));
  for (int k = 7; k >= 0; --k) SUCCEEDS(coset_request_wait(&all[k]));
  for (int k = 0; k < 8; ++k) SUCCEEDS(coset_request_wait(&all[k]));  // complete ones stay so

  for (int i = 0; i < length; ++i) {
    CHECK(reduced[i] == 3 + 3 * i);
    CHECK(shared[i] == 2 + i);
    CHECK(rank != 1 || rooted[i] == i);
    CHECK(scanned[i] == (int32_t)(rank * (rank + 1) / 2) + (int32_t)(rank + 1) * i);
    CHECK(before[i] == (rank == 0 ? 0 : (int32_t)rank - 1 + i));
    CHECK(scattered[i] == 3 + 3 * ((int32_t)rank * length + i));
    CHECK(sent[i] == 2);
    for (int r = 0; r < ranks; ++r) CHECK(gathered[r * length + i] == r + i);
  }
  return 0;
}

static int ask_in_every_way(coset_member* me, void* context) {
  (void)context;
  int8_t item = 1, all[ranks];
  bool complete = false;
  coset_request gather, meeting;
  SUCCEEDS(coset_start_allgather(me, &item, all, 1, COSET_INT8, &gather));
  SUCCEEDS(coset_start_barrier(me, &meeting));
  while (!complete) SUCCEEDS(coset_request_test(&meeting, &complete));
  SUCCEEDS(coset_request_wait_for(&gather, LONG_ENOUGH, &complete));
  CHECK(complete);
  CHECK(all[0] == 1 && all[1] == 1 && all[2] == 1);
  SUCCEEDS(coset_request_test(&gather, &complete));
  CHECK(complete);
  SUCCEEDS(coset_request_free(&gather));
  return 0;
}

/// Nobody else starts before rank 0 has waited in vain.
static int wait_in_vain(coset_member* me, void* context) {
  atomic_bool* const waited = context;
  int32_t sum = 1;
  bool complete = true;
  coset_request summing;
  while (coset_member_rank(me) != 0 && !atomic_load(waited)) thrd_yield();
  SUCCEEDS(coset_start_allreduce(me, COSET_IN_PLACE, &sum, 1, COSET_INT32, COSET_PLUS, &summing));
  if (coset_member_rank(me) == 0) {
    SUCCEEDS(coset_request_wait_for(&summing, 1000, &complete));
    CHECK(!complete);
    atomic_store(waited, true);
  }
  SUCCEEDS(coset_request_wait(&summing));
  CHECK(sum == ranks);
  return 0;
}

static int give_up(coset_member* me, void* context) {
  (void)context;
  coset_request meeting;
  if (coset_member_rank(me) == 0) {
    SUCCEEDS(coset_start_barrier(me, &meeting));
    SUCCEEDS(coset_request_free(&meeting));
  }
  FAILS(COSET_ABORTED, "rank 0 gave up", coset_barrier(me));
  return 0;
}

static int misuse(coset_member* me, void* context) {
  coset_request* const kept = context;
  bool complete;
  FAILS(COSET_ARGUMENT_ERROR, "the request is NULL", coset_request_test(NULL, &complete));
  FAILS(COSET_ARGUMENT_ERROR, "the request is NULL", coset_request_wait(NULL));
  FAILS(COSET_ARGUMENT_ERROR, "the place for an answer", coset_request_test(kept, NULL));
  FAILS(COSET_ARGUMENT_ERROR, "the place for an answer", coset_request_wait_for(kept, 0, NULL));
  SUCCEEDS(coset_request_free(NULL));
  FAILS(COSET_ARGUMENT_ERROR, "the place for a request", coset_start_barrier(me, NULL));
  return 0;
}

void test_split_phase(void) {
  int32_t shared[length];
  SUCCEEDS(run_on(ranks, start_all, shared));
  SUCCEEDS(run_on(ranks, ask_in_every_way, NULL));
  atomic_bool waited = false;
  SUCCEEDS(run_on(ranks, wait_in_vain, &waited));
  SUCCEEDS(run_on(ranks, give_up, NULL));
  coset_request zeros;
  memset(&zeros, 0, sizeof zeros);
  SUCCEEDS(coset_request_wait(&zeros));
  SUCCEEDS(run_on(1, misuse, &zeros));
}
