// SPDX-License-Identifier: Apache-2.0
// Ranks that disagree, and arguments that are wrong on one rank: every rank gets the error, nobody waits for ever.
#include "check.h"

enum { ranks = 3, length = 10 };

/// The status that every rank has to get, whichever rank is at fault.
static int disagree(coset_member* me, void* context) {
  (void)context;
  bool const other = coset_member_rank(me) == 1;
  double x[length * ranks] = {0}, y[length * ranks] = {0};
#define EVERYBODY_FAILS(status, text, call)        \
  do {                                             \
    FAILS(status, text, call);                     \
    SUCCEEDS(coset_member_reset(me, LONG_ENOUGH)); \
  } while (0)
  EVERYBODY_FAILS(COSET_MISMATCH_ERROR, "10",
                  coset_allreduce(me, x, y, other ? length : length - 1, COSET_FLOAT64, COSET_PLUS));
  EVERYBODY_FAILS(COSET_MISMATCH_ERROR, "maximum",
                  coset_allreduce(me, x, y, length, COSET_FLOAT64, other ? COSET_MAXIMUM : COSET_PLUS));
  EVERYBODY_FAILS(COSET_MISMATCH_ERROR, "double",
                  coset_allreduce(me, x, y, length, other ? COSET_INT64 : COSET_FLOAT64, COSET_PLUS));
  EVERYBODY_FAILS(COSET_MISMATCH_ERROR, "barrier",
                  other ? coset_barrier(me) : coset_allreduce(me, x, y, length, COSET_FLOAT64, COSET_PLUS));
  EVERYBODY_FAILS(COSET_MISMATCH_ERROR, "in place",
                  coset_allreduce(me, other ? COSET_IN_PLACE : x, y, length, COSET_FLOAT64, COSET_PLUS));
  EVERYBODY_FAILS(COSET_ARGUMENT_ERROR, "the input of rank 1 is NULL",
                  coset_allreduce(me, other ? NULL : x, y, length, COSET_FLOAT64, COSET_PLUS));
  EVERYBODY_FAILS(COSET_ARGUMENT_ERROR, "the output of rank 1 is NULL",
                  coset_allgather(me, x, other ? NULL : y, 1, COSET_FLOAT64));
  EVERYBODY_FAILS(COSET_ARGUMENT_ERROR, "the output of rank 1 is COSET_IN_PLACE",
                  coset_allreduce(me, x, other ? (double*)COSET_IN_PLACE : y, length, COSET_FLOAT64, COSET_PLUS));
  EVERYBODY_FAILS(COSET_ARGUMENT_ERROR, "overlap",
                  coset_allreduce(me, other ? y + 1 : x, y, length, COSET_FLOAT64, COSET_PLUS));
  EVERYBODY_FAILS(COSET_ARGUMENT_ERROR, "root 3", coset_broadcast(me, x, length, COSET_FLOAT64, ranks));
  EVERYBODY_FAILS(COSET_ARGUMENT_ERROR, "too many",
                  coset_allreduce(me, x, y, other ? SIZE_MAX / 4 : length, COSET_FLOAT64, COSET_PLUS));
  EVERYBODY_FAILS(COSET_ARGUMENT_ERROR, "too many", coset_allreduce(me, x, y, SIZE_MAX, COSET_INT8, COSET_PLUS));
  EVERYBODY_FAILS(COSET_ARGUMENT_ERROR, "too many", coset_broadcast(me, x, SIZE_MAX, COSET_INT8, 0));
  EVERYBODY_FAILS(COSET_ARGUMENT_ERROR, "counts is NULL",
                  coset_reduce_scatter_counts(me, x, y, NULL, COSET_FLOAT64, COSET_PLUS));
  EVERYBODY_FAILS(COSET_ARGUMENT_ERROR, "in place, which it cannot be",
                  coset_reduce_shared(me, COSET_IN_PLACE, y, length, COSET_FLOAT64, COSET_PLUS));
  EVERYBODY_FAILS(COSET_ARGUMENT_ERROR, "the place for a view",
                  coset_allreduce_view(me, x, length, COSET_FLOAT64, COSET_PLUS, NULL));
  EVERYBODY_FAILS(COSET_ARGUMENT_ERROR, "a mistake of rank 1's caller",
                  other ? coset_member_refuse(me, "a mistake of rank 1's caller") : coset_barrier(me));
#undef EVERYBODY_FAILS
  FAILS(COSET_ARGUMENT_ERROR, "the member is NULL", coset_barrier(NULL));
  FAILS(COSET_ARGUMENT_ERROR, "a mistake that concerns nobody",
        coset_member_refuse(NULL, "a mistake that concerns nobody else"));
  SUCCEEDS(coset_barrier(me));
  return 0;
}

static int leave_early(coset_member* me, void* context) {
  (void)context;
  if (coset_member_rank(me) == 2) return 0;
  FAILS(COSET_MISMATCH_ERROR, "left", coset_barrier(me));
  return 0;
}

static int come_too_late(coset_member* me, void* context) {
  (void)context;
  if (coset_member_rank(me) == 0) FAILS(COSET_TIMED_OUT, "", coset_member_reset(me, 1000));
  return 0;
}

void test_disagreements(void) {
  SUCCEEDS(run_on(ranks, disagree, NULL));
  SUCCEEDS(run_on(ranks, leave_early, NULL));
  SUCCEEDS(run_on(ranks, come_too_late, NULL));
}
