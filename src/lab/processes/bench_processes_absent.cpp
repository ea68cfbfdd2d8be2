// SPDX-License-Identifier: Apache-2.0
// `coset bench --mpi` in a build without coset::mpi.
#include "lab/processes/bench_processes.hpp"

namespace coset::cli {

void measure_processes(processes_request const&) {
  throw error("built without MPI: configure with -DCOSET_MPI=openmpi or -DCOSET_MPI=mpich");
}

}  // namespace coset::cli
