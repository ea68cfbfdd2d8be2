// SPDX-License-Identifier: Apache-2.0
// `mpirun … coset bench --mpi`: allreduce over the threads of processes.
#pragma once

#include <string>
#include <vector>

#include "command/measuring.hpp"
#include "lab/measure/harness/rounds.hpp"

namespace coset::cli {

struct processes_request {
  std::vector<std::uint64_t> sizes;  ///< bytes
  rank_t threads = 1;                ///< of each process while coset and OpenMP are timed
  measure::element_kind element = measure::element_kind::float32;
  measure::operation_kind operation = measure::operation_kind::plus;
  wanted_output output;
  measure::round_options options;
};

/// On every process of the launch; process 0 prints. Throws error in a build without MPI, or if the threads do not divide
/// each host's processes.
void measure_processes(processes_request const&);

}  // namespace coset::cli
