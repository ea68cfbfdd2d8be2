// SPDX-License-Identifier: Apache-2.0
// What threads of OpenMP and tasks of oneTBB reduce, where the compiler and the machine have them.
#include <array>
#include <vector>

#if defined(COSET_ENDS_WITH_OPENMP)
#include "coset/omp.hpp"
#endif
#if defined(COSET_ENDS_WITH_TBB)
#include <oneapi/tbb/parallel_for.h>

#include "coset/tbb.hpp"
#endif
#include "uses.hpp"

namespace coset::ends {
namespace {

using numbers = std::vector<long>;

bool nothing() { return true; }

#if defined(COSET_ENDS_WITH_OPENMP)
bool of_openmp() {
  numbers x(64);
  omp::reduction sum(x);
  for (int round = 0; round < 2; ++round) {
#pragma omp parallel num_threads(2)
    {
      sum.local()[1] += 1;
      sum.combine();
    }
  }
  return x[1] == 4;
}
#endif

#if defined(COSET_ENDS_WITH_TBB)
bool of_tbb() {
  numbers x(64);
  coset::tbb::reducer<long> sum(x.size());
  for (int round = 0; round < 2; ++round) {
    oneapi::tbb::parallel_for(0, 100, [&](int) { sum.local()[1] += 1; });
    sum.combine_into(x);
  }
  return x[1] == 200;
}
#endif

constexpr std::array all = {
#if defined(COSET_ENDS_WITH_OPENMP)
    use{"OpenMP's reduction", of_openmp},
#endif
#if defined(COSET_ENDS_WITH_TBB)
    use{"oneTBB's reducer", of_tbb},
#endif
    use{"no runtime", nothing}};

}  // namespace

std::span<use const> of_runtimes() { return all; }

}  // namespace coset::ends
