// SPDX-License-Identifier: Apache-2.0
// A C program of somebody else: every rank gets the sum over all ranks, or the exit status says that it did not.
#include <coset/coset.h>
#include <stdio.h>

static int body(coset_member* me, void* context) {
  (void)context;
  double const size = coset_member_size(me);
  double x = coset_member_rank(me) + 1.0;
  coset_status const status = coset_allreduce(me, COSET_IN_PLACE, &x, 1, COSET_FLOAT64, COSET_PLUS);
  return status != COSET_SUCCESS ? status : x != size * (size + 1) / 2;
}

int main(void) {
  coset_team* team = NULL;
  coset_status status = coset_team_create(NULL, &team);
  if (status == COSET_SUCCESS) status = coset_team_run(team, body, NULL);
  if (status != COSET_SUCCESS) fprintf(stderr, "%s: %s\n", coset_status_name(status), coset_error_message());
  coset_team_free(team);
  return status;
}
