// SPDX-License-Identifier: Apache-2.0
// What the tests of C programs over processes share.
#ifndef COSET_TESTS_C_TEST_H
#define COSET_TESTS_C_TEST_H

#include <coset/coset_mpi.h>

#include "capi/check.h"

int process(void);
int processes(void);
/// Unequal: 2 or 3.
uint32_t threads_here(void);

/// The threads of this process, and the team of all. Adopted threads join, others run.
struct hybrid {
  coset_team* threads;
  coset_mpi_team* all;
};
struct hybrid adopted(coset_mpi_options const*);
struct hybrid owning(coset_mpi_options const*);
void end(struct hybrid);

/// An OpenMP region: each thread of this process joins, runs the body and leaves.
void in_region(coset_mpi_team*, coset_body*, void* context);

/// Every verb that members of processes have, with results that are easy to tell. A body.
int all_verbs(coset_member*, void* nothing);

// One per file.
void test_regions(void);
void test_runs(void);
void test_refusals(void);

#endif
