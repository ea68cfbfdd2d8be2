// SPDX-License-Identifier: Apache-2.0
// Threads of processes beside single-threaded processes: coset's hybrid team, and the two alternatives to it.
#pragma once

#include <memory>
#include <vector>

#include "command/measure/harness/contestant.hpp"

namespace coset::measure {

/// MPI is initialised during the life of this object.
class mpi_session {
 public:
  mpi_session();  ///< with MPI_THREAD_MULTIPLE, or the level available
  ~mpi_session();
  mpi_session(mpi_session const&) = delete;
  mpi_session& operator=(mpi_session const&) = delete;

  int process() const;
  rank_t processes_on_this_host() const;  ///< collective
};

/// All processes of MPI_COMM_WORLD, one per core. In bursts of hybrid contestants every threads-th process of a host is
/// active, with that many threads, and the others sleep; in bursts of "mpi flat" all are active, with one thread each.
class hybrid_stage {
 public:
  /// Collective. `processors` are those of this host's processes, in their order. Throws argument_error on every
  /// process if `threads` does not divide each host's processes.
  hybrid_stage(rank_t threads, std::vector<unsigned> processors);
  ~hybrid_stage();  ///< collective; on process 0 it ends the others' serve()
  hybrid_stage(hybrid_stage const&) = delete;
  hybrid_stage& operator=(hybrid_stage const&) = delete;

  rank_t ranks() const noexcept;
  int hosts() const noexcept;
  /// coset's description of its team.
  std::string describe() const;

  /// Process 0: "coset", "omp+master" and "mpi flat", which live no longer than this; allreduce only.
  contestants players();

  /// All other processes: play what process 0's players ask for.
  void serve();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace coset::measure
