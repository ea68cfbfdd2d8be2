// SPDX-License-Identifier: Apache-2.0
// MPI's collectives: blocking, nonblocking and persistent, with counts of either width.
#include "mpi/preload/entries/entries.hpp"

using namespace coset::interpose;

// clang-format off
// The parameters of each collective, by the types of counts and of places, and their names.
#define COSET_REDUCED(C, D) void const *in, void *out, C count, MPI_Datatype type, MPI_Op by, MPI_Comm comm
#define COSET_REDUCED_NAMES in, out, count, type, by, comm
#define COSET_ROOTED(C, D) void const *in, void *out, C count, MPI_Datatype type, MPI_Op by, int root, MPI_Comm comm
#define COSET_ROOTED_NAMES in, out, count, type, by, root, comm
#define COSET_SCATTERED(C, D) void const *in, void *out, C const counts[], MPI_Datatype type, MPI_Op by, MPI_Comm comm
#define COSET_SCATTERED_NAMES in, out, counts, type, by, comm
#define COSET_GATHERED(C, D) void const *in, C count, MPI_Datatype type, void *out, C out_count, MPI_Datatype out_type, MPI_Comm comm
#define COSET_GATHERED_NAMES in, count, type, out, out_count, out_type, comm
#define COSET_GATHERED_VARIED(C, D) void const *in, C count, MPI_Datatype type, void *out, C const counts[], D const places[], MPI_Datatype out_type, MPI_Comm comm
#define COSET_GATHERED_VARIED_NAMES in, count, type, out, counts, places, out_type, comm
#define COSET_TO_ROOT(C, D) void const *in, C count, MPI_Datatype type, void *out, C out_count, MPI_Datatype out_type, int root, MPI_Comm comm
#define COSET_TO_ROOT_NAMES in, count, type, out, out_count, out_type, root, comm
#define COSET_TO_ROOT_VARIED(C, D) void const *in, C count, MPI_Datatype type, void *out, C const counts[], D const places[], MPI_Datatype out_type, int root, MPI_Comm comm
#define COSET_TO_ROOT_VARIED_NAMES in, count, type, out, counts, places, out_type, root, comm
#define COSET_FROM_ROOT(C, D) COSET_TO_ROOT(C, D)
#define COSET_FROM_ROOT_NAMES COSET_TO_ROOT_NAMES
#define COSET_FROM_ROOT_VARIED(C, D) void const *in, C const counts[], D const places[], MPI_Datatype type, void *out, C out_count, MPI_Datatype out_type, int root, MPI_Comm comm
#define COSET_FROM_ROOT_VARIED_NAMES in, counts, places, type, out, out_count, out_type, root, comm
#define COSET_BROADCAST(C, D) void *data, C count, MPI_Datatype type, int root, MPI_Comm comm
#define COSET_BROADCAST_NAMES data, count, type, root, comm
// clang-format on

namespace {

arguments reduced(verb what, COSET_REDUCED(MPI_Count, MPI_Aint)) {
  return {.what = what, .in = in, .out = out, .count = count, .type = type, .operation = by, .communicator = comm};
}

arguments reduced(verb what, COSET_ROOTED(MPI_Count, MPI_Aint)) {
  arguments all = reduced(what, in, out, count, type, by, comm);
  all.root = root;
  return all;
}

arguments scattered(verb what, COSET_SCATTERED(int, int)) {
  arguments all = reduced(what, in, out, 0, type, by, comm);
  all.varies = true;
  all.of_ranks.counts = counts;
  return all;
}

arguments gathered(verb what, COSET_GATHERED(MPI_Count, MPI_Aint)) {
  arguments all{.what = what, .in = in, .out = out, .out_count = out_count, .out_type = out_type, .communicator = comm};
  // In place they may be anything.
  if (in != MPI_IN_PLACE) all.count = count;
  if (in != MPI_IN_PLACE) all.type = type;
  return all;
}

arguments gathered(verb what, COSET_GATHERED_VARIED(int, int)) {
  arguments all = gathered(what, in, count, type, out, 0, out_type, comm);
  all.varies = true;
  all.of_ranks.counts = counts;
  all.of_ranks.places = places;
  return all;
}

arguments to_root(verb what, COSET_TO_ROOT(MPI_Count, MPI_Aint)) {
  arguments all = gathered(what, in, count, type, out, out_count, out_type, comm);
  all.root = root;
  return all;
}

arguments to_root(verb what, COSET_TO_ROOT_VARIED(int, int)) {
  arguments all = gathered(what, in, count, type, out, counts, places, out_type, comm);
  all.root = root;
  return all;
}

arguments from_root(verb what, COSET_FROM_ROOT(MPI_Count, MPI_Aint)) {
  arguments all{.what = what, .in = in, .out = out, .count = count, .type = type, .root = root, .communicator = comm};
  // In place they may be anything.
  if (out != MPI_IN_PLACE) all.out_count = out_count;
  if (out != MPI_IN_PLACE) all.out_type = out_type;
  return all;
}

arguments from_root(verb what, COSET_FROM_ROOT_VARIED(int, int)) {
  arguments all = from_root(what, in, 0, type, out, out_count, out_type, root, comm);
  all.varies = true;
  all.of_ranks.counts = counts;
  all.of_ranks.places = places;
  return all;
}

arguments broadcast(verb what, COSET_BROADCAST(MPI_Count, MPI_Aint)) {
  return {.what = what, .out = data, .count = count, .type = type, .root = root, .communicator = comm};
}

#if MPI_VERSION >= 4
arguments scattered(verb what, COSET_SCATTERED(MPI_Count, MPI_Aint)) {
  arguments all = reduced(what, in, out, 0, type, by, comm);
  all.varies = true;
  all.of_ranks.long_counts = counts;
  return all;
}

arguments gathered(verb what, COSET_GATHERED_VARIED(MPI_Count, MPI_Aint)) {
  arguments all = gathered(what, in, count, type, out, 0, out_type, comm);
  all.varies = true;
  all.of_ranks.long_counts = counts;
  all.of_ranks.long_places = places;
  return all;
}

arguments to_root(verb what, COSET_TO_ROOT_VARIED(MPI_Count, MPI_Aint)) {
  arguments all = gathered(what, in, count, type, out, counts, places, out_type, comm);
  all.root = root;
  return all;
}

arguments from_root(verb what, COSET_FROM_ROOT_VARIED(MPI_Count, MPI_Aint)) {
  arguments all = from_root(what, in, 0, type, out, out_count, out_type, root, comm);
  all.varies = true;
  all.of_ranks.long_counts = counts;
  all.of_ranks.long_places = places;
  return all;
}
#endif

}  // namespace

// Open MPI has the persistent collectives as an extension, under names of their own.
#if defined(OPEN_MPI)
#define COSET_PERSISTENT_ENTRY(name, suffix, parameters, names, ...) \
  COSET_ENTRY_OF(MPIX, name##_init##suffix, parameters, names, __VA_ARGS__)
#else
#define COSET_PERSISTENT_ENTRY(name, suffix, parameters, names, ...) \
  COSET_ENTRY(name##_init##suffix, parameters, names, __VA_ARGS__)
#endif

// COSET_FORMS_OF(name, nonblocking name, suffix, what, describe, PARAMETERS, C, D): the forms with counts of one width.
#define COSET_FORMS_OF(name, started, suffix, what, describe, kind, C, D)                                            \
  COSET_ENTRY(name##suffix, (kind(C, D)), (kind##_NAMES), {                                                          \
    return blocking(                                                                                                 \
        describe(verb::what, kind##_NAMES), [&] { return real.name##suffix(kind##_NAMES); },                         \
        [&](MPI_Request* request) { return real.started##suffix(kind##_NAMES, request); });                          \
  })                                                                                                                 \
  COSET_ENTRY(started##suffix, (kind(C, D), MPI_Request * request), (kind##_NAMES, request), {                       \
    return nonblocking(describe(verb::what, kind##_NAMES), request,                                                  \
                       [&] { return real.started##suffix(kind##_NAMES, request); });                                 \
  })                                                                                                                 \
  COSET_PERSISTENT_ENTRY(name, suffix, (kind(C, D), MPI_Info info, MPI_Request * request),                           \
                         (kind##_NAMES, info, request), {                                                            \
                           return persistent(describe(verb::what, kind##_NAMES), request,                            \
                                             [&] { return real.name##_init##suffix(kind##_NAMES, info, request); }); \
                         })

#if MPI_VERSION >= 4
#define COSET_FORMS(name, started, what, describe, kind)          \
  COSET_FORMS_OF(name, started, , what, describe, kind, int, int) \
  COSET_FORMS_OF(name, started, _c, what, describe, kind, MPI_Count, COSET_PLACE)
#define COSET_PLACE MPI_Aint
#else
#define COSET_FORMS(name, started, what, describe, kind) COSET_FORMS_OF(name, started, , what, describe, kind, int, int)
#endif

COSET_FORMS(Allreduce, Iallreduce, allreduce, reduced, COSET_REDUCED)
COSET_FORMS(Reduce, Ireduce, reduce, reduced, COSET_ROOTED)
COSET_FORMS(Reduce_scatter, Ireduce_scatter, reduce_scatter, scattered, COSET_SCATTERED)
COSET_FORMS(Reduce_scatter_block, Ireduce_scatter_block, reduce_scatter, reduced, COSET_REDUCED)
COSET_FORMS(Allgather, Iallgather, allgather, gathered, COSET_GATHERED)
COSET_FORMS(Allgatherv, Iallgatherv, allgather, gathered, COSET_GATHERED_VARIED)
COSET_FORMS(Gather, Igather, gather, to_root, COSET_TO_ROOT)
COSET_FORMS(Gatherv, Igatherv, gather, to_root, COSET_TO_ROOT_VARIED)
COSET_FORMS(Scatter, Iscatter, scatter, from_root, COSET_FROM_ROOT)
COSET_FORMS(Scatterv, Iscatterv, scatter, from_root, COSET_FROM_ROOT_VARIED)
COSET_FORMS(Alltoall, Ialltoall, all_to_all, gathered, COSET_GATHERED)
COSET_FORMS(Bcast, Ibcast, broadcast, broadcast, COSET_BROADCAST)
COSET_FORMS(Scan, Iscan, scan, reduced, COSET_REDUCED)
COSET_FORMS(Exscan, Iexscan, exclusive_scan, reduced, COSET_REDUCED)

COSET_ENTRY(Barrier, (MPI_Comm comm), (comm), {
  return blocking(
      {.what = verb::barrier, .communicator = comm}, [&] { return real.Barrier(comm); },
      [&](MPI_Request* request) { return real.Ibarrier(comm, request); });
})

COSET_ENTRY(Ibarrier, (MPI_Comm comm, MPI_Request* request), (comm, request), {
  return nonblocking({.what = verb::barrier, .communicator = comm}, request,
                     [&] { return real.Ibarrier(comm, request); });
})

COSET_PERSISTENT_ENTRY(Barrier, , (MPI_Comm comm, MPI_Info info, MPI_Request* request), (comm, info, request), {
  return persistent({.what = verb::barrier, .communicator = comm}, request,
                    [&] { return real.Barrier_init(comm, info, request); });
})
