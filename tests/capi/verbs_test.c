// SPDX-License-Identifier: Apache-2.0
// Every verb, apart and in place, on teams of several sizes.
#include "check.h"

enum { most = 5, length = 300, whole_length = most * length };

/// What rank r gives at i, and its sum over ranks first … last − 1.
static int64_t given(uint32_t r, size_t i) { return (int64_t)(r + 1) * 1000 + (int64_t)i; }
static int64_t sum_of(uint32_t last, size_t i) {
  return (int64_t)last * (last + 1) / 2 * 1000 + (int64_t)last * (int64_t)i;
}

static void fill(int64_t* array, uint32_t rank, size_t count) {
  for (size_t i = 0; i < count; ++i) array[i] = given(rank, i);
}

static bool all_sums(int64_t const* array, uint32_t last, size_t begin, size_t count) {
  for (size_t i = 0; i < count; ++i)
    if (array[i] != sum_of(last, begin + i)) return false;
  return true;
}

static bool all_given(int64_t const* array, uint32_t rank, size_t count) {
  for (size_t i = 0; i < count; ++i)
    if (array[i] != given(rank, i)) return false;
  return true;
}

static int whole_vectors(coset_member* me, void* context) {
  int64_t* const shared = context;
  uint32_t const rank = coset_member_rank(me), ranks = coset_member_size(me), root = ranks - 1;
  int64_t in[length], out[length] = {0};
  fill(in, rank, length);

  SUCCEEDS(coset_allreduce(me, in, out, length, COSET_INT64, COSET_PLUS));
  CHECK(all_sums(out, ranks, 0, length));
  fill(out, rank, length);
  SUCCEEDS(coset_allreduce(me, out, out, length, COSET_INT64, COSET_PLUS));
  CHECK(all_sums(out, ranks, 0, length));
  fill(out, rank, length);
  SUCCEEDS(coset_allreduce(me, COSET_IN_PLACE, out, length, COSET_INT64, COSET_PLUS));
  CHECK(all_sums(out, ranks, 0, length));
  SUCCEEDS(coset_allreduce(me, NULL, NULL, 0, COSET_INT64, COSET_PLUS));

  void const* view = NULL;
  SUCCEEDS(coset_allreduce_view(me, in, length, COSET_INT64, COSET_PLUS, &view));
  CHECK(all_sums(view, ranks, 0, length));
  SUCCEEDS(coset_reduce_shared(me, in, shared, length, COSET_INT64, COSET_PLUS));
  CHECK(all_sums(shared, ranks, 0, length));

  out[0] = -1;
  SUCCEEDS(coset_reduce(me, in, rank == root ? out : NULL, length, COSET_INT64, COSET_PLUS, root));
  CHECK(rank == root ? all_sums(out, ranks, 0, length) : out[0] == -1);
  fill(out, rank, length);
  SUCCEEDS(coset_reduce(me, COSET_IN_PLACE, out, length, COSET_INT64, COSET_PLUS, root));
  CHECK(rank == root ? all_sums(out, ranks, 0, length) : all_given(out, rank, length));

  SUCCEEDS(coset_scan(me, in, out, length, COSET_INT64, COSET_PLUS));
  CHECK(all_sums(out, rank + 1, 0, length));
  fill(out, rank, length);
  SUCCEEDS(coset_scan(me, COSET_IN_PLACE, out, length, COSET_INT64, COSET_PLUS));
  CHECK(all_sums(out, rank + 1, 0, length));
  fill(out, rank, length);
  SUCCEEDS(coset_exclusive_scan(me, in, out, length, COSET_INT64, COSET_PLUS));
  CHECK(rank == 0 ? all_given(out, 0, length) : all_sums(out, rank, 0, length));
  fill(out, rank, length);
  SUCCEEDS(coset_exclusive_scan(me, COSET_IN_PLACE, out, length, COSET_INT64, COSET_PLUS));
  CHECK(rank == 0 ? all_given(out, 0, length) : all_sums(out, rank, 0, length));

  fill(out, rank, length);
  SUCCEEDS(coset_broadcast(me, out, length, COSET_INT64, root));
  CHECK(all_given(out, root, length));
  SUCCEEDS(coset_barrier(me));
  return 0;
}

static int equal_pieces(coset_member* me, void* context) {
  (void)context;
  uint32_t const rank = coset_member_rank(me), ranks = coset_member_size(me);
  size_t const begin = rank * (size_t)length;
  int64_t whole[whole_length], piece[length];

  fill(whole, rank, ranks * (size_t)length);
  SUCCEEDS(coset_reduce_scatter(me, whole, piece, length, COSET_INT64, COSET_PLUS));
  CHECK(all_sums(piece, ranks, begin, length));
  SUCCEEDS(coset_reduce_scatter(me, COSET_IN_PLACE, whole, length, COSET_INT64, COSET_PLUS));
  CHECK(all_sums(whole + begin, ranks, begin, length));
  fill(whole, rank, ranks * (size_t)length);
  SUCCEEDS(coset_reduce_scatter(me, whole, whole + begin, length, COSET_INT64, COSET_PLUS));
  CHECK(all_sums(whole + begin, ranks, begin, length));

  fill(piece, rank, length);
  SUCCEEDS(coset_allgather(me, piece, whole, length, COSET_INT64));
  for (uint32_t r = 0; r < ranks; ++r) CHECK(all_given(whole + r * (size_t)length, r, length));
  for (size_t i = 0; i < ranks * (size_t)length; ++i) whole[i] = 0;
  fill(whole + begin, rank, length);
  SUCCEEDS(coset_allgather(me, COSET_IN_PLACE, whole, length, COSET_INT64));
  for (uint32_t r = 0; r < ranks; ++r) CHECK(all_given(whole + r * (size_t)length, r, length));
  return 0;
}

static int unequal_pieces(coset_member* me, void* context) {
  (void)context;
  uint32_t const rank = coset_member_rank(me), ranks = coset_member_size(me);
  size_t counts[most], begins[most], all = 0;
  for (uint32_t r = 0; r < ranks; ++r) {
    counts[r] = r * (size_t)length / most;  // rank 0 has nothing
    begins[r] = all;
    all += counts[r];
  }
  int64_t whole[whole_length], piece[length];

  fill(whole, rank, all);
  SUCCEEDS(coset_reduce_scatter_counts(me, whole, piece, counts, COSET_INT64, COSET_PLUS));
  CHECK(all_sums(piece, ranks, begins[rank], counts[rank]));
  SUCCEEDS(coset_reduce_scatter_counts(me, COSET_IN_PLACE, whole, counts, COSET_INT64, COSET_PLUS));
  CHECK(all_sums(whole + begins[rank], ranks, begins[rank], counts[rank]));

  fill(piece, rank, counts[rank]);
  SUCCEEDS(coset_allgather_counts(me, piece, whole, counts, COSET_INT64));
  for (uint32_t r = 0; r < ranks; ++r) CHECK(all_given(whole + begins[r], r, counts[r]));
  for (size_t i = 0; i < all; ++i) whole[i] = 0;
  fill(whole + begins[rank], rank, counts[rank]);
  SUCCEEDS(coset_allgather_counts(me, COSET_IN_PLACE, whole, counts, COSET_INT64));
  for (uint32_t r = 0; r < ranks; ++r) CHECK(all_given(whole + begins[r], r, counts[r]));
  return 0;
}

void test_verbs(void) {
  for (uint32_t ranks = 1; ranks <= most; ++ranks) {
    int64_t shared[length];
    coset_team* const team = team_of(ranks);
    SUCCEEDS(coset_team_run(team, whole_vectors, shared));
    SUCCEEDS(coset_team_run(team, equal_pieces, NULL));
    SUCCEEDS(coset_team_run(team, unequal_pieces, NULL));
    SUCCEEDS(coset_team_free(team));
  }
}
