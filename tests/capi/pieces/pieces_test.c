// SPDX-License-Identifier: Apache-2.0
// gather, scatter and all_to_all: equal pieces and others, started, planned, in place, and refused.
#include <string.h>

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

static void finish(coset_request* request) { SUCCEEDS(coset_request_wait(request)); }

static int to_and_from_a_root(coset_member* me, void* context) {
  (void)context;
  uint32_t const rank = coset_member_rank(me), ranks = coset_member_size(me), root = ranks / 2;
  bool const is_root = rank == root;
  int64_t whole[whole_length], piece[length];
  size_t counts[most], begin[most], all = 0;
  for (uint32_t r = 0; r < ranks; ++r) {
    counts[r] = r * (size_t)length / most;
    begin[r] = all;
    all += counts[r];
  }
  coset_request request;
  for (int way = 0; way < 3; ++way) {
    bool const starts = way == 1, in_place = way == 2 && is_root;
    memset(whole, 0, sizeof whole);
    fill(piece, rank, 7, length);
    memcpy(whole + root * length, piece, sizeof piece);
    void const* const in = in_place ? COSET_IN_PLACE : piece;
    void* const out = is_root ? whole : NULL;
    if (starts) SUCCEEDS(coset_start_gather(me, in, out, length, COSET_INT64, root, &request)), finish(&request);
    if (!starts) SUCCEEDS(coset_gather(me, in, out, length, COSET_INT64, root));
    for (uint32_t r = 0; is_root && r < ranks; ++r) CHECK(holds(whole + r * length, r, 7, length));

    for (uint32_t r = 0; r < ranks; ++r) fill(whole + r * length, root, r, length);
    memset(piece, 0, sizeof piece);
    void* const to = in_place ? whole : piece;
    void const* const from = in_place ? COSET_IN_PLACE : is_root ? whole : NULL;
    if (starts) SUCCEEDS(coset_start_scatter(me, from, to, length, COSET_INT64, root, &request)), finish(&request);
    if (!starts) SUCCEEDS(coset_scatter(me, from, to, length, COSET_INT64, root));
    CHECK(holds(in_place ? whole + root * length : piece, root, rank, length));

    fill(piece, rank, 8, counts[rank]);
    if (starts)
      SUCCEEDS(coset_start_gather_counts(me, piece, out, counts, COSET_INT64, root, &request)), finish(&request);
    if (!starts) SUCCEEDS(coset_gather_counts(me, piece, out, counts, COSET_INT64, root));
    for (uint32_t r = 0; is_root && r < ranks; ++r) CHECK(holds(whole + begin[r], r, 8, counts[r]));
    for (uint32_t r = 0; r < ranks; ++r) fill(whole + begin[r], root, r, counts[r]);
    if (starts)
      SUCCEEDS(coset_start_scatter_counts(me, whole, piece, counts, COSET_INT64, root, &request)), finish(&request);
    if (!starts) SUCCEEDS(coset_scatter_counts(me, whole, piece, counts, COSET_INT64, root));
    CHECK(holds(piece, root, rank, counts[rank]));
  }
  return 0;
}

static int from_all_to_all(coset_member* me, void* context) {
  (void)context;
  uint32_t const rank = coset_member_rank(me), ranks = coset_member_size(me);
  int64_t in[whole_length], out[whole_length];
  for (uint32_t r = 0; r < ranks; ++r) fill(in + r * length, rank, r, length);
  SUCCEEDS(coset_all_to_all(me, in, out, length, COSET_INT64));
  for (uint32_t r = 0; r < ranks; ++r) CHECK(holds(out + r * length, r, rank, length));
  memset(out, 0, sizeof out);
  coset_request request;
  SUCCEEDS(coset_start_all_to_all(me, in, out, length, COSET_INT64, &request));
  finish(&request);
  for (uint32_t r = 0; r < ranks; ++r) CHECK(holds(out + r * length, r, rank, length));
  SUCCEEDS(coset_all_to_all(me, COSET_IN_PLACE, in, length, COSET_INT64));
  for (uint32_t r = 0; r < ranks; ++r) CHECK(holds(in + r * length, r, rank, length));

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

static int by_plan(coset_member* me, void* context) {
  coset_plan* const* const plans = context;
  uint32_t const rank = coset_member_rank(me), ranks = coset_member_size(me);
  int64_t whole[whole_length], piece[length], out[whole_length];
  fill(piece, rank, 7, length);
  SUCCEEDS(coset_plan_execute(plans[0], me, piece, rank == 0 ? whole : NULL));
  for (uint32_t r = 0; rank == 0 && r < ranks; ++r) CHECK(holds(whole + r * length, r, 7, length));
  SUCCEEDS(coset_plan_execute(plans[1], me, rank == 0 ? whole : NULL, piece));
  CHECK(holds(piece, rank, 7, length));
  for (uint32_t r = 0; r < ranks; ++r) fill(whole + r * length, rank, r, length);
  SUCCEEDS(coset_plan_execute(plans[2], me, whole, out));
  for (uint32_t r = 0; r < ranks; ++r) CHECK(holds(out + r * length, r, rank, length));
  SUCCEEDS(coset_plan_execute(plans[2], me, COSET_IN_PLACE, whole));
  for (uint32_t r = 0; r < ranks; ++r) CHECK(holds(whole + r * length, r, rank, length));
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
  for (uint32_t ranks = 1; ranks <= most; ++ranks) {
    SUCCEEDS(run_on(ranks, to_and_from_a_root, NULL));
    SUCCEEDS(run_on(ranks, from_all_to_all, NULL));
  }
  coset_team* const team = team_of(3);
  coset_plan* plans[3];
  coset_verb const verbs[3] = {COSET_VERB_GATHER, COSET_VERB_SCATTER, COSET_VERB_ALL_TO_ALL};
  for (int v = 0; v < 3; ++v)
    SUCCEEDS(coset_plan_create(team, verbs[v], 3 * length, COSET_INT64, COSET_PLUS, NULL, &plans[v]));
  SUCCEEDS(coset_team_run(team, by_plan, plans));
  for (int v = 0; v < 3; ++v) SUCCEEDS(coset_plan_free(plans[v]));
  SUCCEEDS(coset_team_free(team));
  SUCCEEDS(run_on(2, gathers_in_place_without_being_root, NULL));
  SUCCEEDS(run_on(2, expects_another_length, NULL));
}
