// SPDX-License-Identifier: Apache-2.0
// Operations of the caller's own, on structs and on numbers.
#include <stdatomic.h>
#include <string.h>

#include "check.h"

/// x → slope·x + offset; composed from left to right, which does not commute. Modulo 2^32.
struct affine {
  uint32_t slope, offset, unused;
};

static void compose(void* left, void const* right, size_t count, void* context) {
  struct affine* const l = left;
  struct affine const* const r = right;
  for (size_t i = 0; i < count; ++i) {
    l[i].offset = r[i].slope * l[i].offset + r[i].offset;
    l[i].slope *= r[i].slope;
  }
  if (context != NULL) atomic_fetch_add((atomic_size_t*)context, count);
}

static struct affine affine_of(uint32_t rank, uint32_t i) { return (struct affine){2 * i + 3, 10 * rank + i, i}; }

static struct affine composed(uint32_t last, uint32_t i) {
  struct affine result = affine_of(0, i);
  for (uint32_t r = 1; r < last; ++r) {
    struct affine const next = affine_of(r, i);
    compose(&result, &next, 1, NULL);
  }
  return result;
}

static bool same(struct affine a, struct affine b) { return memcmp(&a, &b, sizeof a) == 0; }

enum { ranks = 5, most = 4000 };

/// Lengths that travel in a line, in a tile, and in several of them.
static int compose_in_rank_order(coset_member* me, void* context) {
  coset_operation const op = *(coset_operation const*)context;
  static uint32_t const lengths[] = {1, 3, 100, most};
  static _Thread_local struct affine in[most], out[most];
  uint32_t const rank = coset_member_rank(me);
  for (uint32_t i = 0; i < most; ++i) in[i] = affine_of(rank, i);
  for (size_t k = 0; k < sizeof lengths / sizeof *lengths; ++k) {
    uint32_t const n = lengths[k];
    SUCCEEDS(coset_allreduce(me, in, out, n, COSET_STRUCT(sizeof *in), op));
    for (uint32_t i = 0; i < n; ++i) CHECK(same(out[i], composed(ranks, i)));
    memcpy(out, in, sizeof in);
    SUCCEEDS(coset_allreduce(me, COSET_IN_PLACE, out, n, COSET_STRUCT(sizeof *in), op));
    for (uint32_t i = 0; i < n; ++i) CHECK(same(out[i], composed(ranks, i)));
    SUCCEEDS(coset_scan(me, in, out, n, COSET_STRUCT(sizeof *in), op));
    for (uint32_t i = 0; i < n; ++i) CHECK(same(out[i], composed(rank + 1, i)));
  }
  return 0;
}

static int move_structs(coset_member* me, void* context) {
  (void)context;
  uint32_t const rank = coset_member_rank(me);
  size_t const counts[ranks] = {1, 0, 2, 0, 1};
  struct affine data[2] = {affine_of(rank, 7), affine_of(rank, 8)}, all[2 * ranks];
  SUCCEEDS(coset_allgather(me, data, all, 2, COSET_STRUCT(sizeof *data)));
  for (uint32_t r = 0; r < ranks; ++r)
    CHECK(same(all[2 * r], affine_of(r, 7)) && same(all[2 * r + 1], affine_of(r, 8)));
  SUCCEEDS(coset_allgather_counts(me, data, all, counts, COSET_STRUCT(sizeof *data)));
  CHECK(same(all[0], affine_of(0, 7)) && same(all[2], affine_of(2, 8)) && same(all[3], affine_of(4, 7)));
  SUCCEEDS(coset_broadcast(me, data, 2, COSET_STRUCT(sizeof *data), 3));
  CHECK(same(data[0], affine_of(3, 7)) && same(data[1], affine_of(3, 8)));
  return 0;
}

/// Started with an operation that is freed before the wait.
static int free_while_under_way(coset_member* me, void* context) {
  coset_operation op;
  SUCCEEDS(coset_operation_create("compose", compose, context, sizeof(struct affine), COSET_NONCOMMUTATIVE, &op));
  struct affine const in = affine_of(coset_member_rank(me), 4);
  struct affine out;
  coset_request composing;
  SUCCEEDS(coset_start_allreduce(me, &in, &out, 1, COSET_STRUCT(sizeof in), op, &composing));
  SUCCEEDS(coset_operation_free(op));
  SUCCEEDS(coset_request_wait(&composing));
  CHECK(same(out, composed(ranks, 4)));
  return 0;
}

struct large {
  int64_t values[1000];
};

static void add_large(void* left, void const* right, size_t count, void* context) {
  (void)context;
  for (size_t i = 0; i < count; ++i)
    for (size_t k = 0; k < 1000; ++k) ((struct large*)left)[i].values[k] += ((struct large const*)right)[i].values[k];
}

static int add_large_elements(coset_member* me, void* context) {
  static _Thread_local struct large in[2], out[2];
  for (int k = 0; k < 1000; ++k) in[0].values[k] = in[1].values[k] = k + (int)coset_member_rank(me);
  SUCCEEDS(coset_allreduce(me, in, out, 2, COSET_STRUCT(sizeof *in), *(coset_operation const*)context));
  for (int k = 0; k < 1000; ++k) CHECK(out[1].values[k] == 3 * k + 3);
  return 0;
}

static void mean(void* left, void const* right, size_t count, void* context) {
  (void)context;
  for (size_t i = 0; i < count; ++i) ((float*)left)[i] = ((float*)left)[i] / 2 + ((float const*)right)[i] / 2;
}

static int numbers_too(coset_member* me, void* context) {
  coset_operation const op = *(coset_operation const*)context;
  float const mine = coset_member_rank(me) == 0 ? 1 : 3;
  float result;
  SUCCEEDS(coset_allreduce(me, &mine, &result, 1, COSET_FLOAT32, op));
  CHECK(result == 2);
  return 0;
}

static int other_numbers_not(coset_member* me, void* context) {
  double wider = 0;
  FAILS(COSET_ARGUMENT_ERROR, "operation mean is for elements of 4 bytes, COSET_FLOAT64 has 8",
        coset_allreduce(me, &wider, &wider, 1, COSET_FLOAT64, *(coset_operation const*)context));
  return 0;
}

/// Plans that reorder or that bracket differently serve only operations for which that is right.
static void flags_say_which_plans_will_do(void) {
  coset_team* const team = team_of(3);
  coset_plan_options mixing = COSET_PLAN_OPTIONS, uneven = COSET_PLAN_OPTIONS;
  mixing.algorithm = "circulant";
  uneven.algorithm = "generalized(radix=2,saved_steps=1)";
  for (int32_t flags = 0; flags <= (COSET_NONCOMMUTATIVE | COSET_EXACT); ++flags) {
    coset_operation op;
    coset_plan* plan = NULL;
    SUCCEEDS(coset_operation_create("flagged", mean, NULL, sizeof(float), flags, &op));
    if ((flags & COSET_NONCOMMUTATIVE) != 0)
      FAILS(COSET_SCHEDULE_ERROR, "does not keep the order of the ranks, which flagged needs",
            coset_plan_create(team, COSET_VERB_ALLREDUCE, 9, COSET_FLOAT32, op, &mixing, &plan));
    else
      SUCCEEDS(coset_plan_create(team, COSET_VERB_ALLREDUCE, 9, COSET_FLOAT32, op, &mixing, &plan));
    SUCCEEDS(coset_plan_free(plan));
    plan = NULL;
    if (flags == 0)
      FAILS(COSET_SCHEDULE_ERROR, "different bits for flagged of elements of 4 bytes",
            coset_plan_create(team, COSET_VERB_ALLREDUCE, 9, COSET_FLOAT32, op, &uneven, &plan));
    if (flags == COSET_EXACT)
      SUCCEEDS(coset_plan_create(team, COSET_VERB_ALLREDUCE, 9, COSET_FLOAT32, op, &uneven, &plan));
    SUCCEEDS(coset_plan_free(plan));
    SUCCEEDS(coset_operation_free(op));
  }
  SUCCEEDS(coset_team_free(team));
}

static void mistakes_are_named(void) {
  coset_operation op;
  FAILS(COSET_ARGUMENT_ERROR, "the function", coset_operation_create("nothing", NULL, NULL, 4, 0, &op));
  FAILS(COSET_ARGUMENT_ERROR, "the place", coset_operation_create("nowhere", compose, NULL, 4, 0, NULL));
  FAILS(COSET_ARGUMENT_ERROR, "0 bytes", coset_operation_create("empty", compose, NULL, 0, 0, &op));
  FAILS(COSET_ARGUMENT_ERROR, "bytes", coset_operation_create("endless", compose, NULL, SIZE_MAX, 0, &op));
  FAILS(COSET_ARGUMENT_ERROR, "flags 0x8", coset_operation_create("odd", compose, NULL, 4, 8, &op));
  SUCCEEDS(coset_operation_free(COSET_PLUS));
  SUCCEEDS(coset_operation_free(0));
  FAILS(COSET_ARGUMENT_ERROR, "no operation 5", coset_operation_free(5));
}

void test_operations(void) {
  atomic_size_t calls = 0;
  coset_operation op;
  SUCCEEDS(coset_operation_create("compose", compose, &calls, sizeof(struct affine), COSET_NONCOMMUTATIVE, &op));
  SUCCEEDS(run_on(ranks, compose_in_rank_order, &op));
  CHECK(atomic_load(&calls) > 0);
  SUCCEEDS(run_on(ranks, move_structs, NULL));
  SUCCEEDS(coset_operation_free(op));
  SUCCEEDS(run_on(ranks, free_while_under_way, &calls));

  SUCCEEDS(coset_operation_create(NULL, add_large, NULL, sizeof(struct large), COSET_EXACT, &op));
  SUCCEEDS(run_on(3, add_large_elements, &op));
  SUCCEEDS(coset_operation_free(op));
  SUCCEEDS(coset_operation_create("mean", mean, NULL, sizeof(float), 0, &op));
  SUCCEEDS(run_on(2, numbers_too, &op));
  SUCCEEDS(run_on(2, other_numbers_not, &op));
  SUCCEEDS(coset_operation_free(op));
  flags_say_which_plans_will_do();
  mistakes_are_named();
}
