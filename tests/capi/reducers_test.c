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
  SUCCEEDS(coset_barrier(me));
  for (size_t i = rank; i < bins; i += 3) ((double*)mine)[i] += rank + 1;
  SUCCEEDS(coset_reducer_combine_ranks(of->counts, of->into, me, COSET_COMBINE_ASSIGN));
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

enum { things = 3 };

struct deposition {
  coset_joint_reducer* sums;
  void* into[things];
};

/// Charges, how many particles there were, and the fastest of them: by one call.
static int deposit(coset_member* me, void* context) {
  struct deposition const* const of = context;
  uint32_t const rank = coset_member_rank(me);
  void* mine[things];
  SUCCEEDS(coset_joint_reducer_local_numbered(of->sums, rank, mine, things));
  double* const charge = mine[0];
  int32_t* const particles = mine[1];
  float* const fastest = mine[2];
  CHECK(*fastest == -INFINITY && *particles == 0);
  for (size_t i = rank; i < bins; i += 3) charge[i] += rank + 1;
  *particles += (int32_t)rank;
  *fastest = (float)rank;
  SUCCEEDS(coset_barrier(me));
  SUCCEEDS(coset_joint_reducer_combine_part(of->sums, of->into, things, rank, ranks));
  SUCCEEDS(coset_barrier(me));
  SUCCEEDS(coset_joint_reducer_combine_ranks(of->sums, of->into, things, me, COSET_COMBINE_ADD));  // of nothing
  return 0;
}

static void reduce_many_things(void) {
  static double charge[bins];
  int32_t particles = 10;
  float fastest = 1;
  struct deposition of = {NULL, {charge, &particles, &fastest}};
  coset_reduced const list[things] = {{bins, COSET_FLOAT64, COSET_PLUS, NULL},
                                      {1, COSET_INT32, COSET_PLUS, NULL},
                                      {1, COSET_FLOAT32, COSET_MAXIMUM, NULL}};
  SUCCEEDS(coset_joint_reducer_create(list, things, &of.sums));
  SUCCEEDS(run_on(ranks, deposit, &of));
  for (size_t i = 0; i < bins; ++i) CHECK(charge[i] == (double)(i % 3 + 1));
  CHECK(particles == 13 && fastest == 2);

  void* mine[things];
  SUCCEEDS(coset_joint_reducer_local(of.sums, mine, things));
  *(float*)mine[2] = 7;
  coset_team* const team = team_of(2);
  SUCCEEDS(coset_joint_reducer_combine(of.sums, of.into, things, team));
  CHECK(particles == 13 && fastest == 7);
  SUCCEEDS(coset_joint_reducer_local(of.sums, mine, things));
  *(float*)mine[2] = 9;
  SUCCEEDS(coset_joint_reducer_reset(of.sums));
  SUCCEEDS(coset_joint_reducer_combine(of.sums, of.into, things, NULL));
  CHECK(fastest == 7);
  SUCCEEDS(coset_team_free(team));

  FAILS(COSET_ARGUMENT_ERROR, "2 arrays for a joint reducer of 3", coset_joint_reducer_local(of.sums, mine, 2));
  FAILS(COSET_ARGUMENT_ERROR, "the place for elements", coset_joint_reducer_local(of.sums, NULL, things));
  of.into[1] = NULL;
  FAILS(COSET_ARGUMENT_ERROR, "array 1 of 3", coset_joint_reducer_combine(of.sums, of.into, things, NULL));
  FAILS(COSET_ARGUMENT_ERROR, "array 1 of 3", coset_joint_reducer_combine_part(of.sums, of.into, things, 0, 1));
  of.into[1] = &particles;
  FAILS(COSET_ARGUMENT_ERROR, "part 1 of 1", coset_joint_reducer_combine_part(of.sums, of.into, things, 1, 1));
  SUCCEEDS(coset_joint_reducer_free(of.sums));
  SUCCEEDS(coset_joint_reducer_free(NULL));
  FAILS(COSET_ARGUMENT_ERROR, "the joint reducer", coset_joint_reducer_reset(NULL));
  FAILS(COSET_ARGUMENT_ERROR, "the list of things", coset_joint_reducer_create(NULL, things, &of.sums));
  FAILS(COSET_ARGUMENT_ERROR, "the place for a joint reducer", coset_joint_reducer_create(list, things, NULL));
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
  reduce_many_things();
  refuse();
}
