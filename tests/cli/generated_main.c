/* SPDX-License-Identifier: Apache-2.0 */
/* Runs generated routines over MPI. cases.h has a line CASE(kind, definition, function, root, ordered) for each, definitions.h
   what has to come of it: sums of doubles for many counts, in place and not, and compositions of x -> a x + b, which do not
   commute. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { most = 24, most_ranks = 16 };

/* Elements first, first + 1, ... of the vector: what the ranks begin ... end - 1 give from `from` on, folded in this order. All
   in units of n items. */
typedef struct {
  int first, count, begin, end, from;
} part;

/* One array for input and output, or two; where in its array the input is, and what of the vector it is; what the rank gets,
   which begins as its first part does unless there is one array; and whether it keeps its input. */
typedef struct {
  int one, at, gives, gives_count, keeps, parts;
  part of[most_ranks];
} definition;

#include "definitions.h"

typedef int meet_f(MPI_Comm);
typedef int spread_f(void*, int, MPI_Datatype, int, MPI_Comm);
typedef int fold_f(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
typedef int fold_rooted_f(const void*, void*, int, MPI_Datatype, MPI_Op, int, MPI_Comm);
typedef int move_f(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm);
typedef int move_rooted_f(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, int, MPI_Comm);
typedef move_rooted_f move_from_root_f;

#define CASE(kind, of, name, root, ordered) kind##_f name;
#include "cases.h"
#undef CASE

typedef void any_f(void);

typedef struct {
  unsigned a, b;
} affine;

/* Elements that are folded, and what ranks begin ... end - 1 make of their i-th. */
typedef struct {
  MPI_Datatype type;
  MPI_Op op;
  size_t bytes;
  void (*make)(void* to, int begin, int end, int i);
} elements;

/* One call on n items of such elements. */
typedef struct {
  any_f* function;
  const void* in;
  void* out;
  int n, root;
  elements const* of;
} call;

static int rank, ranks, wrong;
static MPI_Comm own;

static void expect(int truth, const char* name, const char* what, int n) {
  if (truth) return;
  ++wrong;
  if (wrong < 5) printf("rank %d of %d: %s, %s, %d items\n", rank, ranks, name, what, n);
}

static int call_meet(call const* c) { return ((meet_f*)c->function)(own); }
static int call_spread(call const* c) {
  return ((spread_f*)c->function)(c->in == MPI_IN_PLACE ? c->out : (void*)c->in, c->n, c->of->type, c->root, own);
}
static int call_fold(call const* c) { return ((fold_f*)c->function)(c->in, c->out, c->n, c->of->type, c->of->op, own); }
static int call_fold_rooted(call const* c) {
  return ((fold_rooted_f*)c->function)(c->in, c->out, c->n, c->of->type, c->of->op, c->root, own);
}
static int call_move(call const* c) {
  return ((move_f*)c->function)(c->in, c->n, c->of->type, c->out, c->n, c->of->type, own);
}
/* The root alone says what it sends or receives. */
static int call_move_rooted(call const* c) {
  int const is_root = rank == c->root;
  return ((move_rooted_f*)c->function)(c->in, c->n, c->of->type, c->out, is_root ? c->n : -1,
                                       is_root ? c->of->type : MPI_CHAR, c->root, own);
}
static int call_move_from_root(call const* c) {
  int const is_root = rank == c->root, one = c->in == MPI_IN_PLACE;
  return ((move_from_root_f*)c->function)(one ? c->out : c->in, is_root ? c->n : -1, is_root ? c->of->type : MPI_CHAR,
                                          one ? MPI_IN_PLACE : c->out, c->n, c->of->type, c->root, own);
}

static void make_sum(void* to, int begin, int end, int i) {
  double all = 0;
  for (; begin < end; ++begin) all += begin + 1 + 1000.0 * i;
  memcpy(to, &all, sizeof all);
}

static void make_composition(void* to, int begin, int end, int i) {
  affine all = {1, 0};
  for (; begin < end; ++begin) {
    unsigned a = 2u * (unsigned)begin + 3, b = (unsigned)(i + begin);
    all.b = a * all.b + b;
    all.a *= a;
  }
  memcpy(to, &all, sizeof all);
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

static int holds(const char* at, elements const* of, int count, int begin, int end, int from) {
  char element[16];
  int i;
  for (i = 0; i < count; ++i) {
    of->make(element, begin, end, from + i);
    if (memcmp(at + of->bytes * (size_t)i, element, of->bytes) != 0) return 0;
  }
  return 1;
}

static int does_fold(int (*call_kind)(call const*)) { return call_kind == call_fold || call_kind == call_fold_rooted; }

/* MPI_IN_PLACE is the root's word alone where there is one, and what is folded in place begins where the array begins. */
static void check_call(int (*call_kind)(call const*), call c, definition const* d, int may_fail, const char* name) {
  enum { bytes = most * most_ranks * 8 };
  static char in[bytes], out[bytes], untouched[bytes];
  int const n = c.n, in_place = d->one && (c.root < 0 || rank == c.root || call_kind == call_spread);
  size_t const size = c.of->bytes;
  int const folds = does_fold(call_kind);
  int i, status, got = 0;
  memset(in, -1, bytes);
  memset(out, -1, bytes);
  memset(untouched, -1, bytes);
  for (i = 0; i < n * d->gives_count; ++i)
    c.of->make(in + size * (size_t)(n * d->at + i), rank, rank + 1, n * d->gives + i);
  c.in = in_place ? MPI_IN_PLACE : in;
  c.out = in_place ? in : out;
  status = call_kind(&c);
  expect((status == MPI_SUCCESS) != may_fail, name, "status", n);
  if (status != MPI_SUCCESS) return;
  for (i = 0; i < d->parts; ++i) {
    part const p = d->of[i];
    int const at = d->one && !folds ? p.first : p.first - d->of[0].first;
    char const* const result = in_place ? in : out;
    expect(holds(result + size * (size_t)(n * at), c.of, n * p.count, p.begin, p.end, n * p.from), name, "result", n);
    got += n * p.count;
  }
  expect(in_place || memcmp(out + size * (size_t)got, untouched, bytes - size * (size_t)got) == 0, name, "beyond", n);
  if (d->keeps || !in_place)
    expect(holds(in + size * (size_t)(n * d->at), c.of, n * d->gives_count, rank, rank + 1, n * d->gives), name,
           "input", n);
}

/* `of` has what every rank does with two arrays, and then what it does with one. */
static void check_routine(int (*call_kind)(call const*), any_f* function, definition (*of)[most_ranks], int root,
                          int ordered, const char* name) {
  elements sums = {MPI_DOUBLE, MPI_SUM, sizeof(double), make_sum};
  elements pairs = {MPI_DATATYPE_NULL, MPI_OP_NULL, sizeof(affine), make_composition};
  call c = {0};
  c.function = function;
  c.root = root;
  c.of = &sums;
  if (call_kind == call_meet) {
    expect(call_kind(&c) == MPI_SUCCESS, name, "status", 0);
    return;
  }
  for (c.n = 0; c.n <= most; ++c.n) check_call(call_kind, c, &of[c.n % 2][rank], 0, name);
  if (does_fold(call_kind)) {
    MPI_Type_contiguous(2, MPI_UNSIGNED, &pairs.type);
    MPI_Type_commit(&pairs.type);
    MPI_Op_create(compose, 0, &pairs.op);
    c.n = most;
    c.of = &pairs;
    check_call(call_kind, c, &of[0][rank], !ordered, name);
    MPI_Op_free(&pairs.op);
    MPI_Type_free(&pairs.type);
  }
  if (root >= 0) {
    char in[8 * most_ranks], out[8 * most_ranks];
    call other = {0};
    other.function = function;
    other.in = in;
    other.out = out;
    other.n = 1;
    other.root = root + 1;
    other.of = &sums;
    expect(call_kind(&other) != MPI_SUCCESS, name, "another root", 1);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  MPI_Comm_rank(own, &rank);
  MPI_Comm_size(own, &ranks);
#define CASE(kind, of, name, root, ordered) check_routine(call_##kind, (any_f*)name, of, root, ordered, #name);
#include "cases.h"
#undef CASE
  (void)call_move, (void)call_move_rooted, (void)call_move_from_root; /* of which there may be none */
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return wrong != 0;
}
