// SPDX-License-Identifier: Apache-2.0
// Pieces of each rank for each other, of any lengths, and what is refused.
#include "../check.h"

enum { most = 4, length = 50, whole_length = most * most * length };

/// What rank `from` has for rank `to` at i.
static int64_t sent(uint32_t from, uint32_t to, size_t i) { return (int64_t)(from * 100 + to) * 1000 + (int64_t)i; }

static void fill(int64_t* to, uint32_t from, uint32_t rank, size_t count) {
  for (size_t i = 0; i < count; ++i) to[i] = sent(from, rank, i);
}

static bool holds(int64_t const* at, uint32_t from, uint32_t rank, size_t count) {
  for (size_t i = 0; i < count; ++i)
    if (at[i] != sent(from, rank, i)) return false;
  return true;
}

static int each_to_each_another_length(coset_member* me, void* context) {
  (void)context;
  uint32_t const rank = coset_member_rank(me), ranks = coset_member_size(me);
  int64_t in[whole_length], out[whole_length];
  size_t to[most], from[most], at = 0;
  for (uint32_t r = 0; r < ranks; ++r) {
    to[r] = rank * 5 + r;
    from[r] = r * 5 + rank;
    fill(in + at, rank, r, to[r]);
    at += to[r];
  }
  SUCCEEDS(coset_all_to_all_counts(me, in, out, to, from, COSET_INT64));
  at = 0;
  for (uint32_t r = 0; r < ranks; ++r) {
    CHECK(holds(out + at, r, rank, from[r]));
    at += from[r];
  }
  return 0;
}

static int gathers_in_place_without_being_root(coset_member* me, void* context) {
  (void)context;
  int64_t whole[whole_length];
  FAILS(COSET_ARGUMENT_ERROR, "which only the root can",
        coset_gather(me, COSET_IN_PLACE, coset_member_rank(me) == 0 ? whole : NULL, 1, COSET_INT64, 0));
  return 0;
}

static int expects_another_length(coset_member* me, void* context) {
  (void)context;
  size_t const to[2] = {1, 1}, from[2] = {1, coset_member_rank(me) == 0 ? 2 : 1};
  int64_t const in[2] = {0};
  int64_t out[3];
  FAILS(COSET_ARGUMENT_ERROR, "which expects 2", coset_all_to_all_counts(me, in, out, to, from, COSET_INT64));
  return 0;
}

void test_pieces(void) {
  for (uint32_t ranks = 1; ranks <= most; ++ranks) SUCCEEDS(run_on(ranks, each_to_each_another_length, NULL));
  SUCCEEDS(run_on(2, gathers_in_place_without_being_root, NULL));
  SUCCEEDS(run_on(2, expects_another_length, NULL));
}
