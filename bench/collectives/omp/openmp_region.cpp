// SPDX-License-Identifier: Apache-2.0
// The region's host thread.
#include "bench/collectives/omp/openmp_region.hpp"

#include <omp.h>

#include "numa/binding.hpp"

namespace coset::measure {

// Threads are pinned here, to exactly the processors of the other contestants: what OMP_PROC_BIND=true would do, except
// that it would also pin the initial thread of the process, before coset looks at the machine.
openmp_region::openmp_region(std::vector<unsigned> const& processors)
    : parking_(static_cast<rank_t>(processors.size())), host_([this, processors] {
        omp_set_dynamic(0);
#pragma omp parallel num_threads(static_cast <int>(processors.size()))
        {
          auto const rank = static_cast<rank_t>(omp_get_thread_num());
          numa::bind_this_thread(processors[rank]);
          parking_.serve(rank);
        }
      }) {
}

openmp_region::~openmp_region() { parking_.close(); }

}  // namespace coset::measure
