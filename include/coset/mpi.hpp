// SPDX-License-Identifier: Apache-2.0
// Teams over processes: one collective over all threads of all processes. Needs MPI; link coset::mpi.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <mpi.h>

#include <concepts>
#include <cstddef>
#include <iosfwd>
#include <memory>
#include <string>

#include "coset/detail/standard_parts.hpp"
#include "coset/team.hpp"

namespace coset::inline COSET_ABI::detail {
class any_team;
}

namespace coset::inline COSET_ABI::mpi {

/// Must be the same on every process.
struct options {
  /// How many threads of each process send and receive at most; 0: the library chooses. Only one without
  /// MPI_THREAD_MULTIPLE.
  rank_t leaders = 0;
  /// How long a rank waits for one message or signal of another process, and a process for the others to begin and end
  /// their run(), before the team fails with mpi::error and cannot run any more. Zero: what COSET_TIMEOUT says, whose end is
  /// timed_out where ranks wait, after which the team may run again; without it for ever, as MPI does.
  std::chrono::nanoseconds deadline{0};
  /// Staging bytes per rank, channel and parity in the shared-memory window through which the processes of one host
  /// meet; less if the host has less. 0: the processes exchange messages instead. A host's window has 18 times that
  /// per rank, which takes memory as it is used; where it is a file in /dev/shm, at once.
  std::size_t staging_bytes = 1024 * 1024;
  /// The largest number of slices into which a vector is cut where a plan's storage says +library
  /// (COSET_ALLREDUCE=auto/staged+library:1M-): MPI's own MPI_Iallreduce then combines each slice across the hosts.
  /// Only for operations that are stateless, noexcept and exact, as MPI does not promise the same bits on all ranks;
  /// other calls run as usual. Each slice costs nine communicators, and a run that fails during such a reduction loses
  /// some of them for good. 0: none.
  rank_t library_leaders = 0;
  /// A switch tree (see `coset plan --tree`) whose machines are the hosts' names: hosts are numbered along the tree, and
  /// where the switches of each level have equally much behind them, hosts of one switch exchange first, then switches.
  /// Empty: hosts are numbered in the order of the communicator.
  std::string tree = {};
};

/// All threads of all processes of a communicator as one team, numbered host by host, process by process, thread by
/// thread. Needs MPI_THREAD_FUNNELED. Without MPI_THREAD_MULTIPLE only rank 0 of the thread team sends and receives;
/// under FUNNELED that rank has to be the thread that initialised MPI.
///
/// `threads` may be the team's own, which run(), or the caller's (team::adopt()), as of an OpenMP region, which join().
///
/// Members split(), and so do members of parts. Ranks of a part are ordered by (key, rank). Ranks of one host that follow each
/// other in that order share memory, if the team's do; all others exchange messages, even within a process: an order that
/// jumps between hosts or processes works, but slowly. A part of one process is a team of threads in all respects. Below
/// MPI_THREAD_MULTIPLE only the first rank of each process sends and receives, and it does so only for parts to which it
/// belongs: so each run of ranks that share memory, in a part of several such runs, has to include the first rank of some process.
/// Else split() throws argument_error on every rank of the team that is split, which goes on.
/// Failures belong to the whole team. Ranks that wait for each other in different parts, each for the next, are only found out
/// where all are threads of one process; else options::deadline ends them.
/// Cost of split(): three collectives of the team that is split, each of a few bytes per rank; the memory of a team of the
/// ranks that share it; no communicator.
class team {
 public:
  /// Collective over the communicator, which is duplicated for the first team; later ones use what earlier ones have
  /// left and cost little. MPI_Comm_free() frees that; teams live on. `threads` must outlive this team, or outlive
  /// MPI_Finalize if that comes first. Processes may have different numbers of threads, but of one kind. Adopted
  /// threads serve this team alone: adopt another team of them for another one. Throws mpi::error on every process,
  /// also before MPI_Init_thread and after MPI_Finalize. A process that has no memory for its part throws out_of_memory,
  /// the others mpi::error. Throws argument_error for MPI_COMM_NULL, for an intercommunicator, and for adopted threads
  /// that are in use.
  COSET_API team(MPI_Comm, coset::team& threads, options const& = {});
  /// Collective: waits until the other processes destroy theirs. If one of them begins a run() instead, that run()
  /// throws mpi::error; if adopted threads wait there for ranks of this process, they get mismatch_error. MPI_Finalize
  /// does the same for teams that still exist, and the destructor then does nothing, as in a forked child.
  COSET_API ~team();
  team(team const&) = delete;
  team& operator=(team const&) = delete;

  COSET_API rank_t size() const noexcept;     ///< threads of all processes
  COSET_API rank_t first() const noexcept;    ///< this process's first rank
  COSET_API rank_t threads() const noexcept;  ///< this process's ranks
  COSET_API int processes() const noexcept;
  COSET_API int process_number()
      const noexcept;  ///< number of this one, in the order of ranks: host by host, so not always MPI's
  COSET_API int hosts() const noexcept;
  /// What the team discovered and what it uses: "4 ranks of 2 processes on 1 host, which share memory within hosts, …".
  COSET_API std::string describe() const;

  /// Collective: runs `body` on every thread of every process, each with its member of the whole team. Returns when the
  /// bodies of all processes have ended. An exception on one rank ends all bodies: run() rethrows it on that rank's
  /// process; on the others it throws aborted, or the error that the rank reported to them. Throws mpi::error, now and
  /// in every later call, if a process is missing at the deadline or has destroyed its team, and after MPI_Finalize.
  template <class Body>
  void run(Body&& body) {
    if constexpr (detail::is_body<Body>()) {
      detail::require_body(body);
      auto call = [&body](member& me) { detail::call_body(body, me); };
      run_erased([](void* context, member& me) { (*static_cast<decltype(call)*>(context))(me); }, &call);
    }
  }

  /// Of adopted threads: the calling thread is thread `thread` of its process, and so rank first() + `thread` of the
  /// team, until the guard leaves. Neither joining nor leaving waits for others to do so, in whatever process, or sends
  /// anything unless the team has failed: threads may join and leave as often as they like, as at the ends of each
  /// parallel region. Cost: an exchange of one cache line that others only read, and a few calls of the OpenMP runtime
  /// where there is one. Requests do not outlive the guard, and guards end before MPI_Finalize. Members of parts may be
  /// kept while the thread is away, and used when a thread has joined as the same rank again, until reset() or the end of
  /// the team. Without MPI_THREAD_MULTIPLE other processes hear of a thread's exception when thread 0 waits, joins or
  /// leaves next. Throws what the team failed with, until reset(); argument_error if another thread has joined as this
  /// one, if there is no such thread, at once in an OpenMP region of fewer threads than this process has in the team,
  /// under MPI_THREAD_FUNNELED if thread 0 is not the one that initialised MPI, and for a team whose threads run().
  COSET_API member_guard join(rank_t thread);
  /// For adapters: the calling thread's rank if it has joined as this thread, else null; and whether threads join at all,
  /// rather than run().
  COSET_API detail::rank_state* joined(rank_t thread) const noexcept;
  COSET_API bool is_adopted() const noexcept;
  /// Of adopted threads, collective over the processes, by one thread of each while none has joined: after a failure
  /// the team works again. Throws mpi::error, now and in every later call, if a process is missing at the deadline or has
  /// destroyed its team.
  COSET_API void reset();

  /// For making plans: coset::plan<float>(all, verb::allreduce, 1000), see plan.hpp. Each process makes those that its
  /// ranks execute.
  COSET_API operator detail::any_team() noexcept;

 private:
  struct state;
  COSET_API void run_erased(void (*body)(void*, member&), void* context);

  friend void dump(team const&, std::ostream&);

  std::unique_ptr<state> state_;
};

/// As coset::dump(): the ranks with which this process shares memory. On other processes there is nothing to be known but
/// whose messages are missing.
COSET_API void dump(team const&, std::ostream&);

}  // namespace coset::mpi
