// SPDX-License-Identifier: Apache-2.0
// Reducers in C: by a team's ranks, by threads of any kind, by operations of one's own.
#include <math.h>

#include "check.h"

enum { bins = 5000, ranks = 3 };

struct histogram {
  coset_reducer* counts;
  double* into;
};

/// Every rank adds its number plus one to each third bin, then folds its part.
static int count(coset_member* me, void* context) {
  struct histogram const* const of = context;
  uint32_t const rank = coset_member_rank(me);
  void* mine = NULL;
  SUCCEEDS(coset_reducer_local_numbered(of->counts, rank, 0, bins, &mine));
  for (size_t i = rank; i < bins; i += 3) ((double*)mine)[i] += rank + 1;
  SUCCEEDS(coset_barrier(me));
  SUCCEEDS(coset_reducer_combine_part(of->counts, of->into, rank, ranks));
  return 0;
}

static void reduce_by_ranks(void) {
  static double into[bins];
  struct histogram of = {NULL, into};
  SUCCEEDS(coset_reducer_create(bins, COSET_FLOAT64, COSET_PLUS, NULL, NULL, &of.counts));
  SUCCEEDS(run_on(ranks, count, &of));
  for (size_t i = 0; i < bins; ++i) CHECK(into[i] == (double)(i % 3 + 1));
  SUCCEEDS(coset_reducer_free(of.counts));
}

static void reduce_by_one_thread(void) {
  coset_reducer_options options = COSET_REDUCER_OPTIONS;
  options.block_bytes = 64;
  coset_reducer* least = NULL;
  SUCCEEDS(coset_reducer_create(bins, COSET_FLOAT32, COSET_MINIMUM, NULL, &options, &least));
  static float into[bins];
  void* mine = NULL;
  SUCCEEDS(coset_reducer_local(least, 100, 2, &mine));
  CHECK(((float*)mine)[1] == INFINITY);
  ((float*)mine)[1] = -7;
  coset_team* const team = team_of(2);
  SUCCEEDS(coset_reducer_combine(least, into, team));
  CHECK(into[101] == -7 && into[100] == 0);

  SUCCEEDS(coset_reducer_local(least, 101, 1, &mine));
  *(float*)mine = -9;
  SUCCEEDS(coset_reducer_reset(least));
  SUCCEEDS(coset_reducer_combine(least, into, NULL));
  CHECK(into[101] == -7);
  SUCCEEDS(coset_team_free(team));
  SUCCEEDS(coset_reducer_free(least));
}

struct force {
  double x, y, z;
};

static void add(void* left, void const* right, size_t number, void* context) {
  (void)context;
  struct force* const to = left;
  struct force const* const from = right;
  for (size_t i = 0; i < number; ++i) {
    to[i].x += from[i].x;
    to[i].y += from[i].y;
    to[i].z += from[i].z;
  }
}

static void reduce_structs(void) {
  coset_operation sum = 0;
  SUCCEEDS(coset_operation_create("sum of forces", add, NULL, sizeof(struct force), 0, &sum));
  coset_reducer* forces = NULL;
  coset_type const type = COSET_STRUCT(sizeof(struct force));
  FAILS(COSET_ARGUMENT_ERROR, "sum of forces", coset_reducer_create(bins, type, sum, NULL, NULL, &forces));
  struct force const zero = {0, 0, 0};
  SUCCEEDS(coset_reducer_create(bins, type, sum, &zero, NULL, &forces));
  void* mine = NULL;
  SUCCEEDS(coset_reducer_local(forces, bins - 1, 1, &mine));
  ((struct force*)mine)->z += 3;
  static struct force into[bins];
  into[bins - 1].z = 1;
  SUCCEEDS(coset_reducer_combine(forces, into, NULL));
  CHECK(into[bins - 1].z == 4 && into[bins - 1].x == 0);
  SUCCEEDS(coset_reducer_free(forces));
  SUCCEEDS(coset_operation_free(sum));
}

static void refuse(void) {
  coset_reducer* made = NULL;
  void* mine = NULL;
  FAILS(COSET_ARGUMENT_ERROR, "COSET_BIT_AND",
        coset_reducer_create(10, COSET_FLOAT32, COSET_BIT_AND, NULL, NULL, &made));
  FAILS(COSET_ARGUMENT_ERROR, "the place for a reducer",
        coset_reducer_create(10, COSET_FLOAT32, COSET_PLUS, NULL, NULL, NULL));
  SUCCEEDS(coset_reducer_create(10, COSET_INT32, COSET_PLUS, NULL, NULL, &made));
  FAILS(COSET_ARGUMENT_ERROR, "of a reducer of 10", coset_reducer_local(made, 8, 3, &mine));
  FAILS(COSET_ARGUMENT_ERROR, "the place for elements", coset_reducer_local(made, 0, 3, NULL));
  FAILS(COSET_ARGUMENT_ERROR, "the array to combine into", coset_reducer_combine(made, NULL, NULL));
  FAILS(COSET_ARGUMENT_ERROR, "part 2 of 2", coset_reducer_combine_part(made, &mine, 2, 2));
  FAILS(COSET_ARGUMENT_ERROR, "the reducer", coset_reducer_reset(NULL));
  SUCCEEDS(coset_reducer_free(made));
  SUCCEEDS(coset_reducer_free(NULL));

  coset_operation first = 0;
  SUCCEEDS(coset_operation_create("first", add, NULL, 4, COSET_NONCOMMUTATIVE, &first));
  int32_t const zero = 0;
  FAILS(COSET_ARGUMENT_ERROR, "does not commute", coset_reducer_create(10, COSET_INT32, first, &zero, NULL, &made));
  SUCCEEDS(coset_operation_free(first));
}

void test_reducers(void) {
  reduce_by_ranks();
  reduce_by_one_thread();
  reduce_structs();
  refuse();
}
