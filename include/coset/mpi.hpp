// SPDX-License-Identifier: Apache-2.0
// Teams over processes: one collective over all threads of all processes. Needs MPI; link coset::mpi.
#pragma once

#include <mpi.h>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>

#include "coset/team.hpp"

namespace coset::mpi {

/// The same on every process.
struct options {
  /// Threads of each process that send and receive, at most; 0: as the library finds best. One without
  /// MPI_THREAD_MULTIPLE.
  rank_t leaders = 0;
  /// How long a rank waits for one message or signal of another process, and a process for the others to begin and end
  /// their run(), before the team fails with mpi::error and cannot run any more. Zero: for ever, as MPI does.
  std::chrono::nanoseconds deadline{0};
  /// Processes of one host meet in a window of shared memory, with staging of so much per rank, channel and parity, or
  /// less where there is less; 0: they send messages. A host's window takes 18 times that per rank, as far as it is used.
  std::size_t staging_bytes = 1024 * 1024;
  /// Into so many slices a vector may be cut of which MPI's own MPI_Iallreduce combines what the hosts have, where a
  /// plan's storage says +library (COSET_ALLREDUCE=auto/staged+library:1M-). It serves operations without state that
  /// are noexcept, and as MPI promises no same bits on all ranks, exact; other calls run as ever. Each slice costs nine
  /// communicators, of which a run that fails during a combination costs some for good. 0: none.
  rank_t library_leaders = 0;
  /// A switch tree (see `coset plan --tree`) whose machines are the hosts' names: hosts are numbered along it. Empty: in
  /// the order of the communicator.
  std::string tree = {};
};

/// All threads of all processes of a communicator as one team, numbered host by host, process by process, thread by
/// thread. Needs MPI_THREAD_FUNNELED; without MPI_THREAD_MULTIPLE rank 0 of the thread team alone sends and receives,
/// under FUNNELED it has to be the thread that initialised MPI.
class team {
 public:
  /// Collective over the communicator, which is duplicated. `threads` outlives this team, and MPI_Finalize where that
  /// comes first; processes may have different numbers. Throws mpi::error, on every process; also before MPI_Init_thread
  /// and after MPI_Finalize. Throws argument_error for MPI_COMM_NULL and for an intercommunicator.
  team(MPI_Comm, coset::team& threads, options const& = {});
  /// Collective: waits for the other processes to destroy theirs, unless one of them begins a run() instead, which throws
  /// mpi::error there. MPI_Finalize does the same for teams that are left, after which this does nothing.
  ~team();
  team(team const&) = delete;
  team& operator=(team const&) = delete;

  rank_t size() const noexcept;     ///< of all processes' threads
  rank_t first() const noexcept;    ///< this process's first rank
  rank_t threads() const noexcept;  ///< this process's ranks
  int processes() const noexcept;
  int hosts() const noexcept;
  /// What was discovered, and what is used of it: "4 ranks on 1 host, 2 processes, shared window, …".
  std::string describe() const;

  /// Collective: `body` on every thread of every process, each with its member of the whole team. Returns when all
  /// processes' bodies have ended. What one rank throws ends all: it is rethrown by its own process's run(), the
  /// others' throw aborted, or what it reported to them. Throws mpi::error, this time and ever after, if a process is
  /// missing at the deadline or has destroyed its team, and after MPI_Finalize.
  template <std::invocable<member&> Body>
  void run(Body&& body) {
    run_erased([](void* context, member& me) { (*static_cast<std::remove_reference_t<Body>*>(context))(me); },
               const_cast<void*>(static_cast<void const*>(std::addressof(body))));
  }

 private:
  struct state;
  void run_erased(void (*body)(void*, member&), void* context);

  std::unique_ptr<state> state_;
};

}  // namespace coset::mpi
