// SPDX-License-Identifier: Apache-2.0
// In C: every rank sorts its share of some random numbers into bins; all get the histogram of all.
#include <coset/coset.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { bins = 21, numbers = 200000 };

/// Sums of twelve uniform numbers, nearly normal, −6 … 6.
static double next(uint64_t* state) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    sum += (double)(*state >> 11) * 0x1p-53;
  }
  return sum;
}

static int sort_into_bins(coset_member* me, void* result) {
  uint64_t state = coset_member_rank(me), histogram[bins] = {0};
  coset_float64_location largest = {-INFINITY, 0};
  for (int i = 0; i < numbers; ++i) {
    double const x = next(&state);
    ++histogram[(int)lround((x + 6) / 12 * (bins - 1))];
    if (x > largest.value) largest = (coset_float64_location){x, (int64_t)coset_member_rank(me) * numbers + i};
  }

  coset_status status = coset_allreduce(me, COSET_IN_PLACE, histogram, bins, COSET_UINT64, COSET_PLUS);
  if (status == COSET_SUCCESS)
    status = coset_allreduce(me, COSET_IN_PLACE, &largest, 1, COSET_FLOAT64_LOCATION, COSET_MAXIMUM_LOCATION);
  if (status == COSET_SUCCESS && coset_member_rank(me) == 0) {
    memcpy(result, histogram, sizeof histogram);
    printf("%u ranks; the largest is %g, number %lld\n", coset_member_size(me), largest.value,
           (long long)largest.index);
  }
  return status;  // what is not 0 ends the other ranks' waits too
}

int main(void) {
  coset_team* team = NULL;
  uint64_t histogram[bins], total = 0;
  coset_status status = coset_team_create(NULL, &team);  // one pinned thread per core
  if (status == COSET_SUCCESS) status = coset_team_run(team, sort_into_bins, histogram);
  if (status != COSET_SUCCESS) {
    fprintf(stderr, "%s: %s\n", coset_status_name(status), coset_error_message());
    return 1;
  }
  uint64_t const wanted = (uint64_t)coset_team_size(team) * numbers;
  for (int bin = 0; bin < bins; ++bin) {
    printf("%5.1f %.*s\n", bin * 12.0 / (bins - 1) - 6, (int)(histogram[bin] * 200 / wanted),
           "########################################################################");
    total += histogram[bin];
  }
  coset_team_free(team);
  return total != wanted;
}
