// SPDX-License-Identifier: Apache-2.0
// Checks from any thread, and teams for tests.
#include "check.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static atomic_int failed;

int failures(void) { return atomic_load(&failed); }

void check(bool holds, char const* what, char const* file, int line) {
  if (holds) return;
  atomic_fetch_add(&failed, 1);
  fprintf(stderr, "%s:%d: %s does not hold\n", file, line, what);
}

void check_status(coset_status wanted, char const* text, coset_status got, char const* what, char const* file,
                  int line) {
  char const* const message = got == COSET_SUCCESS ? "" : coset_error_message();
  if (got == wanted && strstr(message, text) != NULL) return;
  atomic_fetch_add(&failed, 1);
  fprintf(stderr, "%s:%d: %s\n  wanted %s with \"%s\"\n  got %s with \"%s\"\n", file, line, what,
          coset_status_name(wanted), text, coset_status_name(got), message);
}

coset_team* team_of(uint32_t ranks) {
  coset_team_options options = COSET_TEAM_OPTIONS;
  options.ranks = ranks;
  options.placement = COSET_UNBOUND;
  coset_team* team = NULL;
  SUCCEEDS(coset_team_create(&options, &team));
  return team;
}

coset_status run_on(uint32_t ranks, coset_body* body, void* context) {
  coset_team* const team = team_of(ranks);
  coset_status const status = coset_team_run(team, body, context);
  SUCCEEDS(coset_team_free(team));
  return status;
}
