// SPDX-License-Identifier: Apache-2.0
// Runs all tests of the C interface; the exit status says whether all checks held.
#include <stdio.h>

#include "check.h"

int main(void) {
  test_statuses();
  test_teams();
  test_adopted_teams();
  test_elements();
  test_operations();
  test_split_phase();
  test_plans();
  test_pieces();
  test_reducers();
  test_disagreements();
  coset_end_idle_teams();
  if (failures() != 0) fprintf(stderr, "%d checks failed\n", failures());
  return failures() != 0;
}
