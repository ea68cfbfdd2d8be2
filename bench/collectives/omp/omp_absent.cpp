// SPDX-License-Identifier: Apache-2.0
// In a build that has found no OpenMP.
#include "bench/collectives/factories.hpp"

namespace coset::measure {

bool omp_is_there() { return false; }

contestants make_omp(verb, std::vector<unsigned> const&) { throw error("this build has found no OpenMP"); }

}  // namespace coset::measure
