// SPDX-License-Identifier: Apache-2.0
// Schedules in the languages of other programs: MPI in C, simulators, GPU runtimes. All want what validate() has passed.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

#include "planning/schedule/core/schedule.hpp"

namespace coset::schedule {

/// Vectors for simulators, which want to know lengths.
struct simulated_size {
  std::uint64_t bytes = 0;      ///< of the whole vector
  double combine_per_byte = 0;  ///< nanoseconds (GOAL) or flops (replay) that a rank computes for each byte it combines
};

/// A C file with one function, like MPI's of the verb (MPI_Reduce_scatter_block for reduce_scatter), that needs MPI alone:
/// tables of what every rank sends and folds, and a loop over them. It has the bits of the schedule. Commutative operations
/// are given to it, others too if the schedule is ordered. `name`: of the function; empty: made of algorithm and verb.
/// Throws schedule_error for a name that is no identifier of C.
std::string mpi_routine(schedule const&, std::string name = {});

/// GOAL as text, the language of LogGOPSim: a rank's messages of a step need what it has received and computed in the
/// steps before.
std::string goal(schedule const&, simulated_size);

/// A time-independent trace, all ranks in one file, which SimGrid's smpirun -replay takes.
std::string replay_trace(schedule const&, simulated_size);

/// An algorithm for MSCCL as XML: allreduce, reduce_scatter and allgather, out of place. One thread block for each peer that
/// a rank sends to, one for each that it receives from, one that folds. Throws schedule_error for other verbs, and if some
/// rank has more peers than MSCCL has thread blocks for.
std::string msccl_xml(schedule const&);

/// Inverse of what MSCCL runs: the schedule of an XML algorithm of these verbs, in place or not. Values are followed
/// through buffers and connections; that they end where they have to is for validate() to find out. Throws schedule_error
/// naming `origin` for what is no such XML, and for algorithms that wait for each other or add different parts of the vector.
schedule read_msccl(std::istream&, std::string const& origin);

}  // namespace coset::schedule
