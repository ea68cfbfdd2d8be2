// SPDX-License-Identifier: Apache-2.0
// The functions that programs reach this layer through: name and number of parameters. No MPI is needed to read it, for
// libcoset_preload.so, which is of none, has all of them.
#pragma once

// clang-format off
#define COSET_COUNTED(each) \
  each(Allreduce, 6) each(Reduce, 7) each(Reduce_scatter, 6) each(Reduce_scatter_block, 6) each(Allgather, 7) \
  each(Allgatherv, 8) each(Gather, 8) each(Gatherv, 9) each(Scatter, 8) each(Scatterv, 9) each(Alltoall, 7) \
  each(Bcast, 5) each(Scan, 6) each(Exscan, 6)
#define COSET_NONBLOCKING(each) \
  each(Iallreduce, 7) each(Ireduce, 8) each(Ireduce_scatter, 7) each(Ireduce_scatter_block, 7) each(Iallgather, 8) \
  each(Iallgatherv, 9) each(Igather, 9) each(Igatherv, 10) each(Iscatter, 9) each(Iscatterv, 10) each(Ialltoall, 8) \
  each(Ibcast, 6) each(Iscan, 7) each(Iexscan, 7)
#define COSET_PERSISTENT(each) \
  each(Allreduce_init, 8) each(Reduce_init, 9) each(Reduce_scatter_init, 8) each(Reduce_scatter_block_init, 8) \
  each(Allgather_init, 9) each(Allgatherv_init, 10) each(Gather_init, 10) each(Gatherv_init, 11) \
  each(Scatter_init, 10) each(Scatterv_init, 11) each(Alltoall_init, 9) each(Bcast_init, 7) each(Scan_init, 8) \
  each(Exscan_init, 8)
// While operations of ours are in flight, these let them go on.
#define COSET_WAITING(each) \
  each(Wait, 2) each(Waitall, 3) each(Waitany, 4) each(Waitsome, 5) each(Test, 3) each(Testall, 4) each(Testany, 5) \
  each(Testsome, 5) each(Request_get_status, 3) each(Probe, 4) each(Iprobe, 5) each(Mprobe, 5) each(Improbe, 6)
// These, too, by their nonblocking forms: messages …
#define COSET_MESSAGES(each) \
  each(Recv, 7) each(Send, 6) each(Ssend, 6) each(Rsend, 6) each(Mrecv, 5) each(Sendrecv, 12) \
  each(Sendrecv_replace, 9)
// … and collectives that have no team.
#define COSET_COLLECTIVES(each) \
  each(Alltoallv, 9) each(Alltoallw, 9) each(Neighbor_allgather, 7) each(Neighbor_allgatherv, 8) \
  each(Neighbor_alltoall, 7) each(Neighbor_alltoallv, 9) each(Neighbor_alltoallw, 9)
// These can only wait: their processes meet first.
#define COSET_MEETING(each) \
  each(Comm_dup, 2) each(Comm_dup_with_info, 3) each(Comm_create, 3) each(Comm_split, 4) each(Comm_split_type, 5) \
  each(Cart_create, 6) each(Cart_sub, 3) each(Graph_create, 6) each(Dist_graph_create, 9) \
  each(Dist_graph_create_adjacent, 10) each(Intercomm_create, 6) each(Intercomm_merge, 3) each(Win_create, 6) \
  each(Win_allocate, 6) each(Win_allocate_shared, 6) each(Win_create_dynamic, 3) each(File_open, 5)
// These make communicators, too.
#define COSET_MAKING(each) \
  each(Comm_create_group, 4) each(Comm_spawn, 8) each(Comm_spawn_multiple, 9) each(Comm_accept, 5) \
  each(Comm_connect, 5) each(Comm_join, 2)
#define COSET_LIFETIMES(each) \
  each(Init, 2) each(Init_thread, 4) each(Finalize, 0) each(Start, 1) each(Startall, 2) each(Request_free, 1) \
  each(Op_free, 1) each(Type_free, 1) each(Comm_free, 1) each(Comm_disconnect, 1)

// MPI_… of every MPI;
#define COSET_OF_EVERY_MPI(each) \
  COSET_COUNTED(each) COSET_NONBLOCKING(each) each(Barrier, 1) each(Ibarrier, 2) COSET_WAITING(each) \
  COSET_MESSAGES(each) COSET_COLLECTIVES(each) COSET_MEETING(each) COSET_MAKING(each) COSET_LIFETIMES(each)
// MPI_… or MPIX_…;
#define COSET_OF_LATER_NAME(each) COSET_PERSISTENT(each) each(Barrier_init, 3)
// MPI_…_c, where there is MPI 4.0.
#define COSET_OF_LARGE_COUNTS(each) \
  COSET_COUNTED(each) COSET_NONBLOCKING(each) COSET_PERSISTENT(each) COSET_MESSAGES(each) COSET_COLLECTIVES(each)
// clang-format on
