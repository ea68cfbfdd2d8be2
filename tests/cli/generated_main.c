/* SPDX-License-Identifier: Apache-2.0 */
/* Runs generated routines over MPI. cases.h has a line CASE(collective, function, root, ordered) for each: sums of doubles
   for many counts, in place and not, and compositions of x -> a x + b, which do not commute. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most = 24, most_ranks = 16 };

typedef int allreduce_f(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
typedef int reduce_f(const void*, void*, int, MPI_Datatype, MPI_Op, int, MPI_Comm);
typedef allreduce_f reduce_scatter_f, scan_f, exclusive_scan_f;
typedef int allgather_f(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm);
typedef int gather_f(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, int, MPI_Comm);
typedef gather_f scatter_f;
typedef allgather_f all_to_all_f;
typedef int broadcast_f(void*, int, MPI_Datatype, int, MPI_Comm);
typedef int barrier_f(MPI_Comm);

#define CASE(verb, name, root, ordered) verb##_f name;
#include "cases.h"
#undef CASE

typedef struct {
  unsigned a, b;
} affine;

static int rank, ranks, wrong;
static MPI_Comm own;

static void expect(int truth, const char* name, const char* what, int n) {
  if (truth) return;
  ++wrong;
  if (wrong < 5) printf("rank %d of %d: %s, %s, %d items\n", rank, ranks, name, what, n);
}

static double item(int r, int i) { return r + 1 + 1000.0 * i; }
static double sum_until(int end, int i) { return end * (end + 1) / 2 + 1000.0 * i * end; }
static void fill(double* to, int n) {
  int i;
  for (i = 0; i < n; ++i) to[i] = item(rank, i);
}

/* The composition that applies `in` first: ranks in order from left to right. */
static void compose(void* in, void* inout, int* n, MPI_Datatype* type) {
  affine *left = in, *right = inout;
  int i;
  (void)type;
  for (i = 0; i < *n; ++i) {
    right[i].b += right[i].a * left[i].b;
    right[i].a *= left[i].a;
  }
}

static affine composed(int begin, int end, int i) {
  affine all = {1, 0};
  for (; begin < end; ++begin) {
    unsigned a = 2u * (unsigned)begin + 3, b = (unsigned)(i + begin);
    all.b = a * all.b + b;
    all.a *= a;
  }
  return all;
}

static void check_order(allreduce_f* f, int is_scan, int ordered, const char* name) {
  MPI_Datatype pair;
  MPI_Op op;
  affine in[most], out[most];
  int i, status;
  MPI_Type_contiguous(2, MPI_UNSIGNED, &pair);
  MPI_Type_commit(&pair);
  MPI_Op_create(compose, 0, &op);
  for (i = 0; i < most; ++i) in[i] = composed(rank, rank + 1, i);
  MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  status = f(in, out, most, pair, op, own);
  expect((status == MPI_SUCCESS) == ordered, name, "noncommutative", most);
  for (i = 0; status == MPI_SUCCESS && i < most; ++i) {
    affine const all = composed(0, is_scan ? rank + 1 : ranks, i);
    expect(out[i].a == all.a && out[i].b == all.b, name, "order", i);
  }
  MPI_Op_free(&op);
  MPI_Type_free(&pair);
}

/* The sum of the first so many ranks' items, on every rank. */
static void check_sum_of(allreduce_f* f, int summed, int is_scan, int ordered, const char* name) {
  int n, i;
  for (n = 0; n <= most; ++n) {
    double in[most], out[most];
    fill(in, n);
    fill(out, n);
    expect(f(n % 2 ? in : MPI_IN_PLACE, out, n, MPI_DOUBLE, MPI_SUM, own) == MPI_SUCCESS, name, "status", n);
    for (i = 0; i < n; ++i) expect(out[i] == sum_until(summed, i), name, "sum", n);
  }
  check_order(f, is_scan, ordered, name);
}

static void check_allreduce(allreduce_f* f, int root, int ordered, const char* name) {
  (void)root;
  check_sum_of(f, ranks, 0, ordered, name);
}

static void check_reduce(reduce_f* f, int root, int ordered, const char* name) {
  int n, i;
  (void)ordered;
  for (n = 0; n <= most; ++n) {
    double in[most], out[most];
    fill(in, n);
    for (i = 0; i < n; ++i) out[i] = rank == root && n % 2 ? in[i] : -1;
    expect(f(rank == root && n % 2 ? MPI_IN_PLACE : in, out, n, MPI_DOUBLE, MPI_SUM, root, own) == MPI_SUCCESS, name,
           "status", n);
    for (i = 0; i < n; ++i) expect(out[i] == (rank == root ? sum_until(ranks, i) : -1), name, "sum", n);
  }
  expect(f(&n, &i, 1, MPI_INT, MPI_SUM, root + 1, own) != MPI_SUCCESS, name, "another root", 1);
}

static void check_reduce_scatter(reduce_scatter_f* f, int root, int ordered, const char* name) {
  int n, i;
  (void)root, (void)ordered;
  for (n = 0; n <= most; ++n) {
    double in[most * most_ranks], out[most * most_ranks];
    fill(in, n * ranks);
    fill(out, n * ranks);
    expect(f(n % 2 ? in : MPI_IN_PLACE, out, n, MPI_DOUBLE, MPI_SUM, own) == MPI_SUCCESS, name, "status", n);
    for (i = 0; i < n; ++i) expect(out[i] == sum_until(ranks, n * rank + i), name, "sum", n);
  }
}

static void check_allgather(allgather_f* f, int root, int ordered, const char* name) {
  int n, i, r;
  (void)root, (void)ordered;
  for (n = 0; n <= most; ++n) {
    double in[most], out[most * most_ranks];
    fill(in, n);
    memset(out, 0, sizeof out);
    fill(out + n * rank, n);
    expect(f(n % 2 ? in : MPI_IN_PLACE, n, MPI_DOUBLE, out, n, MPI_DOUBLE, own) == MPI_SUCCESS, name, "status", n);
    for (r = 0; r < ranks; ++r)
      for (i = 0; i < n; ++i) expect(out[n * r + i] == item(r, i), name, "piece", n);
  }
}

static void check_gather(gather_f* f, int root, int ordered, const char* name) {
  int n, i, r;
  (void)ordered;
  for (n = 0; n <= most; ++n) {
    double in[most], out[most * most_ranks];
    int const stays = rank == root && n % 2 == 0;
    fill(in, n);
    for (i = 0; i < n * ranks; ++i) out[i] = -1;
    if (stays) fill(out + n * rank, n);
    expect(f(stays ? MPI_IN_PLACE : in, n, MPI_DOUBLE, out, rank == root ? n : -1, rank == root ? MPI_DOUBLE : MPI_CHAR,
             root, own) == MPI_SUCCESS,
           name, "status", n);
    for (r = 0; r < ranks; ++r)
      for (i = 0; i < n; ++i) expect(out[n * r + i] == (rank == root ? item(r, i) : -1), name, "piece", n);
  }
  expect(f(&n, 1, MPI_INT, &i, 1, MPI_INT, root + 1, own) != MPI_SUCCESS, name, "another root", 1);
}

static void check_scatter(scatter_f* f, int root, int ordered, const char* name) {
  int n, i;
  (void)ordered;
  for (n = 0; n <= most; ++n) {
    double in[most * most_ranks], out[most];
    int const stays = rank == root && n % 2 == 0;
    fill(in, n * ranks);
    for (i = 0; i < n; ++i) out[i] = -1;
    expect(f(in, rank == root ? n : -1, rank == root ? MPI_DOUBLE : MPI_CHAR, stays ? MPI_IN_PLACE : out, n, MPI_DOUBLE,
             root, own) == MPI_SUCCESS,
           name, "status", n);
    for (i = 0; i < n; ++i) expect(out[i] == (stays ? -1 : item(root, n * rank + i)), name, "piece", n);
  }
}

static void check_all_to_all(all_to_all_f* f, int root, int ordered, const char* name) {
  int n, i, r;
  (void)root, (void)ordered;
  for (n = 0; n <= most; ++n) {
    double in[most * most_ranks], out[most * most_ranks];
    fill(in, n * ranks);
    fill(out, n * ranks);
    expect(f(n % 2 ? in : MPI_IN_PLACE, n, MPI_DOUBLE, out, n, MPI_DOUBLE, own) == MPI_SUCCESS, name, "status", n);
    for (r = 0; r < ranks; ++r)
      for (i = 0; i < n; ++i) expect(out[n * r + i] == item(r, n * rank + i), name, "piece", n);
  }
}

static void check_broadcast(broadcast_f* f, int root, int ordered, const char* name) {
  int n, i;
  (void)ordered;
  for (n = 0; n <= most; ++n) {
    double inout[most];
    fill(inout, n);
    expect(f(inout, n, MPI_DOUBLE, root, own) == MPI_SUCCESS, name, "status", n);
    for (i = 0; i < n; ++i) expect(inout[i] == item(root, i), name, "value", n);
  }
}

static void check_scan(scan_f* f, int root, int ordered, const char* name) {
  (void)root;
  check_sum_of(f, rank + 1, 1, ordered, name);
}

static void check_exclusive_scan(exclusive_scan_f* f, int root, int ordered, const char* name) {
  int n, i;
  (void)root, (void)ordered;
  for (n = 0; n <= most; ++n) {
    double in[most], out[most];
    fill(in, n);
    for (i = 0; i < n; ++i) out[i] = -1;
    expect(f(in, out, n, MPI_DOUBLE, MPI_SUM, own) == MPI_SUCCESS, name, "status", n);
    for (i = 0; i < n; ++i) expect(out[i] == (rank == 0 ? -1 : sum_until(rank, i)), name, "sum", n);
  }
}

static void check_barrier(barrier_f* f, int root, int ordered, const char* name) {
  (void)root, (void)ordered;
  expect(f(own) == MPI_SUCCESS, name, "status", 0);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  MPI_Comm_rank(own, &rank);
  MPI_Comm_size(own, &ranks);
#define CASE(verb, name, root, ordered) check_##verb(name, root, ordered, #name);
#include "cases.h"
#undef CASE
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return wrong != 0;
}
