// SPDX-License-Identifier: Apache-2.0
// Every element type with every operation: those that go together, and the message for those that do not.
#include <complex.h>
#include <math.h>
#include <string.h>

#include "check.h"

enum { first_operation = COSET_PLUS, last_operation = COSET_REPRODUCIBLE_PLUS, last_type = COSET_INT64_LOCATION };

/// What goes together, one bit per operation from COSET_PLUS on.
static unsigned operations_of(coset_type type) {
  unsigned const sums = 0x3, extremes = 0xc, bits = 0x70, logic = 0x380, locations = 0xc00, reproducible = 0x1000;
  if (type <= COSET_UINT64) return sums | extremes | bits | logic;
  if (type <= COSET_BFLOAT16) return sums | extremes | logic;
  if (type <= COSET_FLOAT64) return sums | extremes | logic | reproducible;
  if (type <= COSET_COMPLEX128) return sums;
  return type == COSET_BOOL ? logic : locations;
}

static bool go_together(coset_type type, coset_operation op) {
  return (operations_of(type) >> (op - first_operation) & 1) != 0;
}

/// All arrays are zeros: what is looked at is which calls are served.
static int serve_pairs(coset_member* me, void* context) {
  (void)context;
  for (coset_type type = 1; type <= last_type; ++type) {
    for (coset_operation op = first_operation; op <= last_operation; ++op) {
      uint64_t const zeros[2] = {0};
      uint64_t result[2];
      if (go_together(type, op)) SUCCEEDS(coset_allreduce(me, zeros, result, 1, type, op));
    }
  }
  return 0;
}

static int refuse_pairs(coset_member* me, void* context) {
  (void)context;
  for (coset_type type = 1; type <= last_type; ++type) {
    for (coset_operation op = first_operation; op <= last_operation; ++op) {
      uint64_t zeros[2] = {0};
      if (go_together(type, op)) continue;
      FAILS(COSET_ARGUMENT_ERROR, " does not reduce elements of type COSET_",
            coset_scan(me, zeros, zeros, 1, type, op));
      SUCCEEDS(coset_member_reset(me, LONG_ENOUGH));
    }
  }
  return 0;
}

static int name_both(coset_member* me, void* context) {
  (void)context;
  double x = 1;
  FAILS(COSET_ARGUMENT_ERROR, "COSET_BIT_AND does not reduce elements of type COSET_FLOAT64",
        coset_allreduce(me, &x, &x, 1, COSET_FLOAT64, COSET_BIT_AND));
  SUCCEEDS(coset_member_reset(me, LONG_ENOUGH));
  FAILS(COSET_ARGUMENT_ERROR, "COSET_PLUS does not reduce elements of type COSET_STRUCT(8)",
        coset_allreduce(me, &x, &x, 1, COSET_STRUCT(sizeof x), COSET_PLUS));
  SUCCEEDS(coset_member_reset(me, LONG_ENOUGH));
  FAILS(COSET_ARGUMENT_ERROR, "no element type 101", coset_allreduce(me, &x, &x, 1, COSET_PLUS, COSET_FLOAT64));
  SUCCEEDS(coset_member_reset(me, LONG_ENOUGH));
  FAILS(COSET_ARGUMENT_ERROR, "no element type 0", coset_broadcast(me, &x, 1, 0, 0));
  SUCCEEDS(coset_member_reset(me, LONG_ENOUGH));
  FAILS(COSET_ARGUMENT_ERROR, "no operation 0", coset_allreduce(me, &x, &x, 1, COSET_FLOAT64, 0));
  return 0;
}

/// One sum of every type, to see that each number means its type.
static int sum_all_types(coset_member* me, void* context) {
  (void)context;
#define SUM(c_type, number, value)                                            \
  do {                                                                        \
    c_type x = (c_type)(value);                                               \
    SUCCEEDS(coset_allreduce(me, COSET_IN_PLACE, &x, 1, number, COSET_PLUS)); \
    CHECK(x == (c_type)((value) + (value)));                                  \
  } while (0)
  SUM(int8_t, COSET_INT8, 100);  // wraps
  SUM(int16_t, COSET_INT16, -20000);
  SUM(int32_t, COSET_INT32, -70000);
  SUM(int64_t, COSET_INT64, INT64_C(-5000000000));
  SUM(uint8_t, COSET_UINT8, 200);
  SUM(uint16_t, COSET_UINT16, 40000);
  SUM(uint32_t, COSET_UINT32, 3000000000u);
  SUM(uint64_t, COSET_UINT64, UINT64_C(1) << 62);
  SUM(float, COSET_FLOAT32, 0.25f);
  SUM(double, COSET_FLOAT64, 1e300);
  SUM(float _Complex, COSET_COMPLEX64, 1.5f + 2.5f * I);
  SUM(double _Complex, COSET_COMPLEX128, 1e-300 - 1e200 * I);
#undef SUM
  uint16_t one_and_a_half = 0x3e00;
  SUCCEEDS(coset_allreduce(me, COSET_IN_PLACE, &one_and_a_half, 1, COSET_FLOAT16, COSET_PLUS));
  CHECK(one_and_a_half == 0x4200);  // 3
  one_and_a_half = 0x3fc0;
  SUCCEEDS(coset_allreduce(me, COSET_IN_PLACE, &one_and_a_half, 1, COSET_BFLOAT16, COSET_PLUS));
  CHECK(one_and_a_half == 0x4040);  // 3
  bool odd = coset_member_rank(me) == 1;
  SUCCEEDS(coset_allreduce(me, COSET_IN_PLACE, &odd, 1, COSET_BOOL, COSET_LOGICAL_XOR));
  CHECK(odd);
  return 0;
}

/// Two ranks, 6 and 3: each operation gives another result.
static int apply_operations(coset_member* me, void* context) {
  (void)context;
  static int64_t const wanted[] = {9, 18, 3, 6, 2, 7, 5, 1, 1, 0};
  for (coset_operation op = COSET_PLUS; op <= COSET_LOGICAL_XOR; ++op) {
    int64_t const mine = coset_member_rank(me) == 0 ? 6 : 3;
    int64_t result = -1;
    SUCCEEDS(coset_allreduce(me, &mine, &result, 1, COSET_INT64, op));
    CHECK(result == wanted[op - COSET_PLUS]);
  }
  double reproducible = coset_member_rank(me) == 0 ? 1e16 : 1;
  SUCCEEDS(coset_allreduce(me, COSET_IN_PLACE, &reproducible, 1, COSET_FLOAT64, COSET_REPRODUCIBLE_PLUS));
  CHECK(reproducible == 1e16);
  return 0;
}

static int find_locations(coset_member* me, void* context) {
  (void)context;
  uint32_t const rank = coset_member_rank(me);
#define LOCATE(c_type, number)                                                    \
  do {                                                                            \
    c_type at;                                                                    \
    memset(&at, 0, sizeof at);                                                    \
    at.value = rank == 0 ? 7 : 5;                                                 \
    at.index = 100 - (int64_t)rank;                                               \
    c_type low, high;                                                             \
    SUCCEEDS(coset_allreduce(me, &at, &low, 1, number, COSET_MINIMUM_LOCATION));  \
    SUCCEEDS(coset_allreduce(me, &at, &high, 1, number, COSET_MAXIMUM_LOCATION)); \
    CHECK(low.value == 5 && low.index == 98);                                     \
    CHECK(high.value == 7 && high.index == 100);                                  \
  } while (0)
  LOCATE(coset_float32_location, COSET_FLOAT32_LOCATION);
  LOCATE(coset_float64_location, COSET_FLOAT64_LOCATION);
  LOCATE(coset_int32_location, COSET_INT32_LOCATION);
  LOCATE(coset_int64_location, COSET_INT64_LOCATION);
#undef LOCATE
  coset_float64_location nowhere = {rank == 1 ? NAN : 1, rank};
  SUCCEEDS(coset_allreduce(me, COSET_IN_PLACE, &nowhere, 1, COSET_FLOAT64_LOCATION, COSET_MINIMUM_LOCATION));
  CHECK(isnan(nowhere.value) && nowhere.index == 1);
  return 0;
}

void test_elements(void) {
  SUCCEEDS(run_on(2, serve_pairs, NULL));
  SUCCEEDS(run_on(2, refuse_pairs, NULL));
  SUCCEEDS(run_on(2, name_both, NULL));
  SUCCEEDS(run_on(2, sum_all_types, NULL));
  SUCCEEDS(run_on(2, apply_operations, NULL));
  SUCCEEDS(run_on(3, find_locations, NULL));
}
