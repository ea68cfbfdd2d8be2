// SPDX-License-Identifier: Apache-2.0
// Teams over processes for C: one collective over all threads of all processes. C11; C++ may include it too, but has
// coset/mpi.hpp. Needs MPI; link coset::mpi (pkg-config: coset-openmpi or coset-mpich), and C++'s runtime library with it.
//
// Their members take every function of coset.h that takes members. coset_allreduce_view() and coset_reduce_shared() have one
// result for each process, and so have the reducers of coset_reducer.h, of which each process makes one.
// coset_member_split() works as coset/mpi.hpp says; where threads join, its members may be kept from one region to the
// next. coset_mpi_team_reset() stands for coset_member_reset().
//
//     coset_team_adopt((uint32_t)omp_get_max_threads(), NULL, &threads);
//     coset_mpi_team_create(MPI_COMM_WORLD, threads, NULL, &all);           // collective over the processes
//     #pragma omp parallel
//     {
//       coset_member* me;
//       coset_mpi_team_join(all, (uint32_t)omp_get_thread_num(), &me);
//       coset_allreduce(me, COSET_IN_PLACE, x, 1000, COSET_FLOAT64, COSET_PLUS);  // over every thread of every process
//       coset_team_leave(me);
//     }
#ifndef COSET_COSET_MPI_H
#define COSET_COSET_MPI_H

// NOLINTBEGIN(modernize-*): it is C.

#include <mpi.h>

#include "coset/coset.h"

#ifdef __cplusplus
extern "C" {
#endif

/// All threads of all processes of a communicator as one team, numbered host by host, process by process, thread by
/// thread. Needs MPI_THREAD_FUNNELED. Without MPI_THREAD_MULTIPLE only rank 0 of the thread team sends and receives;
/// under FUNNELED that rank has to be the thread that initialised MPI.
typedef struct coset_mpi_team coset_mpi_team;

/// Begin with `coset_mpi_options options = COSET_MPI_OPTIONS;`. Later versions may append to it. The same on every
/// process; coset/mpi.hpp says more of each.
typedef struct coset_mpi_options {
  size_t bytes;              ///< size of this struct when the caller was compiled
  uint32_t leaders;          ///< how many threads of each process send and receive at most; 0: the library chooses
  uint32_t library_leaders;  ///< the most slices of a vector that MPI_Iallreduce combines where a plan says +library
  int64_t nanoseconds;       ///< how long a rank waits for another process before the team fails; 0: for ever
  size_t staging_bytes;      ///< per rank in the window through which the processes of a host meet; 0: no window
  char const* tree;          ///< a switch tree along which hosts are numbered; NULL: as in the communicator
} coset_mpi_options;
#define COSET_MPI_OPTIONS \
  { sizeof(coset_mpi_options), 0, 0, 0, 1024 * 1024, NULL }

/// Collective over the communicator, which is duplicated. `threads` are a team of threads of its own, which
/// coset_mpi_team_run(), or an adopted one, whose threads coset_mpi_team_join(); the same kind on every process, any
/// number of threads. `threads` must outlive this team, or outlive MPI_Finalize if that comes first; adopted threads
/// serve this team alone. `options` may be NULL.
///
/// COSET_MPI_ERROR on every process if one of them cannot take part or has other options, before MPI_Init_thread and
/// after MPI_Finalize. COSET_ARGUMENT_ERROR for MPI_COMM_NULL, for an intercommunicator, and for adopted threads that
/// are in use. If only this process's arguments are wrong, the others wait for it, as in MPI's own functions.
COSET_API coset_status coset_mpi_team_create(MPI_Comm, coset_team* threads, coset_mpi_options const* options,
                                             coset_mpi_team** made);
/// Collective: waits until the other processes free theirs. Free the team's plans first. If another process begins a
/// coset_mpi_team_run() instead, that gives COSET_MPI_ERROR; adopted threads there that wait for ranks of this process
/// get COSET_MISMATCH_ERROR. MPI_Finalize does the same for teams that still exist; afterwards this only frees memory.
COSET_API coset_status coset_mpi_team_free(coset_mpi_team*);

COSET_API uint32_t coset_mpi_team_size(coset_mpi_team const*);     ///< threads of all processes
COSET_API uint32_t coset_mpi_team_first(coset_mpi_team const*);    ///< this process's first rank
COSET_API uint32_t coset_mpi_team_threads(coset_mpi_team const*);  ///< this process's ranks
COSET_API int32_t coset_mpi_team_processes(coset_mpi_team const*);
COSET_API int32_t coset_mpi_team_hosts(coset_mpi_team const*);
/// What the team discovered and what it uses: "4 ranks of 2 processes on 1 host, …". As snprintf(): writes what fits into
/// `room` bytes, with a 0 at its end, and returns the length of the whole text. `text` may be NULL if `room` is 0.
COSET_API size_t coset_mpi_team_describe(coset_mpi_team const*, char* text, size_t room);

/// Collective: runs `body` on every thread of every process, each with its member of the whole team. Returns when the
/// bodies of all processes have ended. A body that returns something other than 0 ends all bodies: its process gets the
/// status that coset_team_run() would return, the others get COSET_ABORTED or the error that the rank reported to
/// them. COSET_MPI_ERROR, now and in every later call, if a process is missing at the deadline or has freed its team,
/// and after MPI_Finalize. COSET_ARGUMENT_ERROR for a team of adopted threads.
COSET_API coset_status coset_mpi_team_run(coset_mpi_team*, coset_body* body, void* context);

/// As coset_dump(): the ranks with which this process shares memory.
COSET_API coset_status coset_mpi_dump(coset_mpi_team*, int32_t descriptor);

/// Of adopted threads: the calling thread is thread `thread` of its process, and so rank coset_mpi_team_first() +
/// `thread` of the team, until it calls coset_team_leave(). Neither joining nor leaving waits for others to do so, in
/// whatever process, or sends anything unless the team has failed: threads may join and leave as often as they like, as
/// at the ends of each parallel region. Threads leave before MPI_Finalize. Cost: an allocation and one exchange of a cache
/// line.
///
/// `*me` is NULL unless that succeeds. The status with which the team failed, until coset_mpi_team_reset(). COSET_ARGUMENT_ERROR if another thread has
/// joined as this one, if there is no such thread, under MPI_THREAD_FUNNELED if thread 0 is not the one that
/// initialised MPI, and for a team whose threads run.
COSET_API coset_status coset_mpi_team_join(coset_mpi_team*, uint32_t thread, coset_member** me);

/// Of adopted threads, collective over the processes, by one thread of each while none has joined: after a failure the
/// team works again. COSET_MPI_ERROR, now and in every later call, if a process is missing at the deadline or has freed
/// its team.
COSET_API coset_status coset_mpi_team_reset(coset_mpi_team*);

/// coset_plan_create() for the members of a team over processes, which execute the plan by coset_plan_execute() and
/// coset_plan_start(). Each process makes a plan of its own, from the same arguments; making it sends nothing. Where
/// processes have chosen differently, the first call gives COSET_MISMATCH_ERROR on every rank. COSET_ARGUMENT_ERROR also
/// for a reduce_scatter or allgather with an algorithm or storage that is too long for the options' staging_bytes.
COSET_API coset_status coset_mpi_plan_create(coset_mpi_team*, coset_verb, size_t count, coset_type, coset_operation,
                                             coset_plan_options const* options, coset_plan** made);

#ifdef __cplusplus
}
#endif

// NOLINTEND(modernize-*)

#endif
