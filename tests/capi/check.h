// SPDX-License-Identifier: Apache-2.0
// Checks that print what they expected and count, from any thread; and a team for one body.
#ifndef COSET_TESTS_CHECK_H
#define COSET_TESTS_CHECK_H

#include <coset/coset.h>
#include <stdbool.h>

/// How many checks have failed.
int failures(void);

void check(bool holds, char const* what, char const* file, int line);
void check_status(coset_status wanted, char const* text, coset_status got, char const* what, char const* file,
                  int line);

#define CHECK(condition) check((condition), #condition, __FILE__, __LINE__)
#define SUCCEEDS(call) check_status(COSET_SUCCESS, "", (call), #call, __FILE__, __LINE__)
/// With this status, and this text in the thread's message.
#define FAILS(status, text, call) check_status((status), (text), (call), #call, __FILE__, __LINE__)

coset_team* team_of(uint32_t ranks);
/// The body on a team of so many ranks, wherever they run.
coset_status run_on(uint32_t ranks, coset_body* body, void* context);

#define LONG_ENOUGH (INT64_C(30000000000))

// One per file.
void test_statuses(void);
void test_teams(void);
void test_adopted_teams(void);
void test_elements(void);
void test_operations(void);
void test_split_phase(void);
void test_plans(void);
void test_pieces(void);
void test_reducers(void);
void test_disagreements(void);

#endif
