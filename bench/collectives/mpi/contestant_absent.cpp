// SPDX-License-Identifier: Apache-2.0
// In a build that has found no MPI.
#include "bench/collectives/factories.hpp"

namespace coset::measure {

bool mpi_is_there() { return false; }

std::unique_ptr<contestant> make_mpi(std::vector<unsigned> const&) { throw error("this build has found no MPI"); }

}  // namespace coset::measure
