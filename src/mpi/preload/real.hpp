// SPDX-License-Identifier: Apache-2.0
// MPI's own functions, beneath those of the same names that this layer puts before them.
#pragma once

#include <mpi.h>
#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

// clang-format off
#define COSET_COUNTED(each) \
  each(Allreduce) each(Reduce) each(Reduce_scatter) each(Reduce_scatter_block) each(Allgather) each(Allgatherv) \
  each(Gather) each(Gatherv) each(Scatter) each(Scatterv) each(Alltoall) each(Bcast) each(Scan) each(Exscan)
#define COSET_NONBLOCKING(each) \
  each(Iallreduce) each(Ireduce) each(Ireduce_scatter) each(Ireduce_scatter_block) each(Iallgather) \
  each(Iallgatherv) each(Igather) each(Igatherv) each(Iscatter) each(Iscatterv) each(Ialltoall) each(Ibcast) \
  each(Iscan) each(Iexscan)
#define COSET_PERSISTENT(each) \
  each(Allreduce_init) each(Reduce_init) each(Reduce_scatter_init) each(Reduce_scatter_block_init) \
  each(Allgather_init) each(Allgatherv_init) each(Gather_init) each(Gatherv_init) each(Scatter_init) \
  each(Scatterv_init) each(Alltoall_init) each(Bcast_init) each(Scan_init) each(Exscan_init)
// While operations of ours are in flight, these let them go on.
#define COSET_WAITING(each) \
  each(Wait) each(Waitall) each(Waitany) each(Waitsome) each(Test) each(Testall) each(Testany) each(Testsome) \
  each(Request_get_status) each(Probe) each(Iprobe) each(Mprobe) each(Improbe)
// These, too, by their nonblocking forms: messages …
#define COSET_MESSAGES(each) \
  each(Recv) each(Send) each(Ssend) each(Rsend) each(Mrecv) each(Sendrecv) each(Sendrecv_replace)
// … and collectives that have no team.
#define COSET_COLLECTIVES(each) \
  each(Alltoallv) each(Alltoallw) each(Neighbor_allgather) each(Neighbor_allgatherv) each(Neighbor_alltoall) \
  each(Neighbor_alltoallv) each(Neighbor_alltoallw)
// These can only wait: their processes meet first.
#define COSET_MEETING(each) \
  each(Comm_dup) each(Comm_dup_with_info) each(Comm_create) each(Comm_split) each(Comm_split_type) each(Cart_create) \
  each(Cart_sub) each(Graph_create) each(Dist_graph_create) each(Dist_graph_create_adjacent) each(Intercomm_create) \
  each(Intercomm_merge) each(Win_create) each(Win_allocate) each(Win_allocate_shared) each(Win_create_dynamic) \
  each(File_open)
// These make communicators, too.
#define COSET_MAKING(each) \
  each(Comm_create_group) each(Comm_spawn) each(Comm_spawn_multiple) each(Comm_accept) each(Comm_connect) each(Comm_join)
#define COSET_LIFETIMES(each) \
  each(Init) each(Init_thread) each(Finalize) each(Start) each(Startall) each(Request_free) each(Op_free) \
  each(Type_free) each(Comm_free) each(Comm_disconnect)
// clang-format on

namespace coset::interpose {

struct real_functions {
#define COSET_MEMBER(name) decltype(&PMPI_##name) name;
  COSET_COUNTED(COSET_MEMBER)
  COSET_NONBLOCKING(COSET_MEMBER)
  COSET_MEMBER(Barrier)
  COSET_MEMBER(Ibarrier)
  COSET_WAITING(COSET_MEMBER)
  COSET_MESSAGES(COSET_MEMBER)
  COSET_COLLECTIVES(COSET_MEMBER)
  COSET_MEETING(COSET_MEMBER)
  COSET_MAKING(COSET_MEMBER)
  COSET_LIFETIMES(COSET_MEMBER)
#undef COSET_MEMBER
#if defined(OPEN_MPI)  // which has the persistent ones as an extension
#define COSET_MEMBER(name) decltype(&PMPIX_##name) name;
#else
#define COSET_MEMBER(name) decltype(&PMPI_##name) name;
#endif
  COSET_PERSISTENT(COSET_MEMBER)
  COSET_MEMBER(Barrier_init)
#undef COSET_MEMBER
#if MPI_VERSION >= 4
#define COSET_MEMBER(name) decltype(&PMPI_##name##_c) name##_c;
  COSET_COUNTED(COSET_MEMBER)
  COSET_NONBLOCKING(COSET_MEMBER)
  COSET_PERSISTENT(COSET_MEMBER)
  COSET_MESSAGES(COSET_MEMBER)
  COSET_COLLECTIVES(COSET_MEMBER)
#undef COSET_MEMBER
#endif
};

/// MPI's own, found by the dynamic linker before main().
extern real_functions const real;

/// A tool's functions between this library and MPI, which see calls first and go on to PMPI_…, as they would without this library.
/// nullptr where the next definition is MPI's own.
extern real_functions const tools;
/// The library of its MPI_Init, or MPI_Allreduce, for people; nullptr if there is none.
char const* name_of_tool() noexcept;

/// Whether this thread is in the layer, whose own calls of MPI go to MPI.
inline thread_local bool is_inside __attribute__((tls_model("initial-exec"))) = false;

/// In a forked child MPI's handles, the teams' and what is in flight are the parent's: every call goes to MPI.
inline constinit bool is_forked_child = false;

inline bool passes_through() noexcept { return is_inside || is_forked_child; }

/// What the program calls, and not this layer or MPI within it.
template <class Function>
bool is_for_tool(Function* of_tool) noexcept {
  return of_tool != nullptr && !is_inside;
}

class inside {
 public:
  inside() : before_(is_inside) { is_inside = true; }
  ~inside() { is_inside = before_; }
  inside(inside const&) = delete;
  inside& operator=(inside const&) = delete;

 private:
  bool const before_;
};

}  // namespace coset::interpose
