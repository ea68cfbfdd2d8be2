/* SPDX-License-Identifier: Apache-2.0
 * Conjugate gradients for the Laplacian of a cube cut into slabs, as HPCG has them: sums of dot products, halos by
 * messages, the answer gathered and told to all. A plain MPI program. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { side = 24, plane = side * side };

static int rank, ranks, planes, first;

static double dot(double const* x, double const* y) {
  double own = 0, all;
  for (int i = 0; i < planes * plane; ++i) own += x[i] * y[i];
  MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

/* y = A x; x has a plane of others' before and behind it. */
static void multiply(double* x, double* y) {
  int const below = rank > 0 ? rank - 1 : MPI_PROC_NULL, above = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  MPI_Sendrecv(x + plane * planes, plane, MPI_DOUBLE, above, 0, x, plane, MPI_DOUBLE, below, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv(x + plane, plane, MPI_DOUBLE, below, 1, x + plane * (planes + 1), plane, MPI_DOUBLE, above, 1,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int k = 1; k <= planes; ++k) {
    for (int j = 0; j < side; ++j) {
      for (int i = 0; i < side; ++i) {
        double const* at = x + plane * k + side * j + i;
        double sum = 6 * *at - at[-plane] - at[plane];
        if (i > 0) sum -= at[-1];
        if (i + 1 < side) sum -= at[1];
        if (j > 0) sum -= at[-side];
        if (j + 1 < side) sum -= at[side];
        y[plane * (k - 1) + side * j + i] = sum;
      }
    }
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  first = side * rank / ranks;
  planes = side * (rank + 1) / ranks - first;
  int const n = planes * plane;
  double *x = calloc(n, sizeof(double)), *r = calloc(n, sizeof(double)), *y = calloc(n, sizeof(double));
  double* p = calloc(n + 2 * plane, sizeof(double));
  for (int i = 0; i < n; ++i) r[i] = p[plane + i] = sin(0.37 * (first * plane + i));
  double size = dot(r, r);
  int steps = 0;
  for (; size > 1e-16 && steps < 300; ++steps) {
    multiply(p, y);
    double const length = size / dot(p + plane, y);
    for (int i = 0; i < n; ++i) {
      x[i] += length * p[plane + i];
      r[i] -= length * y[i];
    }
    double const next = dot(r, r);
    for (int i = 0; i < n; ++i) p[plane + i] = r[i] + next / size * p[plane + i];
    size = next;
  }
  int counts[64], places[64];
  int const own = n;
  MPI_Allgather(&own, 1, MPI_INT, counts, 1, MPI_INT, MPI_COMM_WORLD);
  for (int k = 0; k < ranks; ++k) places[k] = k == 0 ? 0 : places[k - 1] + counts[k - 1];
  double* whole = calloc(side * plane, sizeof(double));
  MPI_Allgatherv(x, n, MPI_DOUBLE, whole, counts, places, MPI_DOUBLE, MPI_COMM_WORLD);
  double greatest, own_greatest = 0;
  for (int i = 0; i < n; ++i) own_greatest = fmax(own_greatest, fabs(x[i]));
  MPI_Reduce(&own_greatest, &greatest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("answer: greatest %.9g, middle %.9g, last %.9g\n", greatest, whole[side * plane / 2 + 7],
           whole[side * plane - 1]);
  MPI_Finalize();
  return 0;
}
