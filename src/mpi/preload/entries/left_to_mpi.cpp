// SPDX-License-Identifier: Apache-2.0
// Collectives that this layer leaves to MPI. Their processes may have operations in flight that the others wait for
// before they come.
#include "mpi/preload/entries/entries.hpp"
#include "mpi/preload/makers.hpp"

using namespace coset::interpose;

// clang-format off
// The parameters of each collective, by the types of counts and of places, and their names.
#define COSET_ALL(C, D) void const *in, C count, MPI_Datatype type, void *out, C out_count, MPI_Datatype out_type, MPI_Comm comm
#define COSET_ALL_NAMES in, count, type, out, out_count, out_type, comm
#define COSET_ALL_GATHER_VARIED(C, D) void const *in, C count, MPI_Datatype type, void *out, C const counts[], D const places[], MPI_Datatype out_type, MPI_Comm comm
#define COSET_ALL_GATHER_VARIED_NAMES in, count, type, out, counts, places, out_type, comm
#define COSET_ALL_VARIED(C, D) void const *in, C const counts[], D const places[], MPI_Datatype type, void *out, C const out_counts[], D const out_places[], MPI_Datatype out_type, MPI_Comm comm
#define COSET_ALL_VARIED_NAMES in, counts, places, type, out, out_counts, out_places, out_type, comm
#define COSET_ALL_TYPED(C, D) void const *in, C const counts[], D const places[], MPI_Datatype const types[], void *out, C const out_counts[], D const out_places[], MPI_Datatype const out_types[], MPI_Comm comm
#define COSET_ALL_TYPED_NAMES in, counts, places, types, out, out_counts, out_places, out_types, comm
// clang-format on

#define COSET_POLLED(name, started, kind, C, D)                                       \
  COSET_ENTRY(name, (kind(C, D)), (kind##_NAMES), {                                   \
    return blocking_or_polled(                                                        \
        together(comm), [&] { return real.name(kind##_NAMES); },                      \
        [&](MPI_Request* request) { return PMPI_##started(kind##_NAMES, request); }); \
  })
#if MPI_VERSION >= 4
#define COSET_BOTH(name, started, kind, D)  \
  COSET_POLLED(name, started, kind, int, D) \
  COSET_POLLED(name##_c, started##_c, kind, MPI_Count, MPI_Aint)
#else
#define COSET_BOTH(name, started, kind, D) COSET_POLLED(name, started, kind, int, D)
#endif

COSET_BOTH(Alltoallv, Ialltoallv, COSET_ALL_VARIED, int)
COSET_BOTH(Alltoallw, Ialltoallw, COSET_ALL_TYPED, int)
COSET_BOTH(Neighbor_allgather, Ineighbor_allgather, COSET_ALL, int)
COSET_BOTH(Neighbor_allgatherv, Ineighbor_allgatherv, COSET_ALL_GATHER_VARIED, int)
COSET_BOTH(Neighbor_alltoall, Ineighbor_alltoall, COSET_ALL, int)
COSET_BOTH(Neighbor_alltoallv, Ineighbor_alltoallv, COSET_ALL_VARIED, int)
COSET_BOTH(Neighbor_alltoallw, Ineighbor_alltoallw, COSET_ALL_TYPED, MPI_Aint)

// COSET_MEET(name, communicator, (parameters), names…)
#define COSET_MEET(name, on, parameters, ...)                               \
  COSET_ENTRY(name, parameters, (__VA_ARGS__), {                            \
    if (int const code = meet_before(on); code != MPI_SUCCESS) return code; \
    making const now;                                                       \
    return real.name(__VA_ARGS__);                                          \
  })

COSET_MEET(Comm_dup, comm, (MPI_Comm comm, MPI_Comm* made), comm, made)
COSET_MEET(Comm_dup_with_info, comm, (MPI_Comm comm, MPI_Info info, MPI_Comm* made), comm, info, made)
COSET_MEET(Comm_create, comm, (MPI_Comm comm, MPI_Group group, MPI_Comm* made), comm, group, made)
COSET_MEET(Comm_split, comm, (MPI_Comm comm, int colour, int key, MPI_Comm* made), comm, colour, key, made)
COSET_MEET(Comm_split_type, comm, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made), comm, type, key,
           info, made)
COSET_MEET(Cart_create, comm,
           (MPI_Comm comm, int n, int const extents[], int const periods[], int reorder, MPI_Comm* made), comm, n,
           extents, periods, reorder, made)
COSET_MEET(Cart_sub, comm, (MPI_Comm comm, int const kept[], MPI_Comm* made), comm, kept, made)
COSET_MEET(Graph_create, comm,
           (MPI_Comm comm, int n, int const index[], int const edges[], int reorder, MPI_Comm* made), comm, n, index,
           edges, reorder, made)
COSET_MEET(Dist_graph_create, comm,
           (MPI_Comm comm, int n, int const from[], int const degrees[], int const to[], int const weights[],
            MPI_Info info, int reorder, MPI_Comm* made),
           comm, n, from, degrees, to, weights, info, reorder, made)
COSET_MEET(Dist_graph_create_adjacent, comm,
           (MPI_Comm comm, int in, int const from[], int const in_weights[], int out, int const to[],
            int const out_weights[], MPI_Info info, int reorder, MPI_Comm* made),
           comm, in, from, in_weights, out, to, out_weights, info, reorder, made)
COSET_MEET(Intercomm_create, comm,
           (MPI_Comm comm, int leader, MPI_Comm peers, int other_leader, int tag, MPI_Comm* made), comm, leader, peers,
           other_leader, tag, made)
COSET_MEET(Intercomm_merge, comm, (MPI_Comm comm, int is_high, MPI_Comm* made), comm, is_high, made)
COSET_MEET(Win_create, comm, (void* base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win* made), base,
           size, unit, info, comm, made)
COSET_MEET(Win_allocate, comm, (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* made), size,
           unit, info, comm, base, made)
COSET_MEET(Win_allocate_shared, comm,
           (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* made), size, unit, info, comm,
           base, made)
COSET_MEET(Win_create_dynamic, comm, (MPI_Info info, MPI_Comm comm, MPI_Win* made), info, comm, made)
COSET_MEET(File_open, comm, (MPI_Comm comm, char const* name, int mode, MPI_Info info, MPI_File* made), comm, name,
           mode, info, made)

// COSET_MAKE((parameters), names…)
#define COSET_MAKE(name, parameters, ...)        \
  COSET_ENTRY(name, parameters, (__VA_ARGS__), { \
    making const now;                            \
    return real.name(__VA_ARGS__);               \
  })

COSET_MAKE(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made), comm, group, tag, made)
COSET_MAKE(Comm_spawn,
           (char const* command, char* arguments[], int most, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* made,
            int codes[]),
           command, arguments, most, info, root, comm, made, codes)
COSET_MAKE(Comm_spawn_multiple,
           (int count, char* commands[], char** arguments[], int const most[], MPI_Info const infos[], int root,
            MPI_Comm comm, MPI_Comm* made, int codes[]),
           count, commands, arguments, most, infos, root, comm, made, codes)
COSET_MAKE(Comm_accept, (char const* port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* made), port, info, root,
           comm, made)
COSET_MAKE(Comm_connect, (char const* port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* made), port, info, root,
           comm, made)
COSET_MAKE(Comm_join, (int socket, MPI_Comm* made), socket, made)
