// SPDX-License-Identifier: Apache-2.0
// `mpirun … coset bench --mpi`, allreduce over the threads of processes: what it is asked for.
#pragma once

#include <string>
#include <vector>

#include "command/measure/harness/rounds.hpp"
#include "command/measuring.hpp"

namespace coset::cli {

struct processes_request {
  std::vector<std::uint64_t> sizes;  ///< bytes
  rank_t threads = 1;                ///< of each process while coset and OpenMP are timed
  measure::element_kind element = measure::element_kind::float32;
  measure::operation_kind operation = measure::operation_kind::plus;
  wanted_output output;
  measure::round_options options;
};

}  // namespace coset::cli
