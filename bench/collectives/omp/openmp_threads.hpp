// SPDX-License-Identifier: Apache-2.0
// OpenMP with exactly our processors.
#pragma once

#include <omp.h>

#include "command/measure/machine/parking.hpp"
#include "numa/binding.hpp"

namespace coset::measure {

/// The thread that opens all regions, and OpenMP's own, pinned. After a burst they sleep by themselves.
class openmp_threads {
 public:
  explicit openmp_threads(std::vector<unsigned> const& processors)
      : threads_(static_cast<int>(processors.size())), host_({processors.front()}) {
    host_.run([&](rank_t) {
      omp_set_dynamic(0);
#pragma omp parallel num_threads(threads_)
      numa::bind_this_thread(processors[static_cast<std::size_t>(omp_get_thread_num())]);
    });
  }

  int threads() const { return threads_; }

  template <class Job>
  void run(Job&& job) {
    host_.run([&](rank_t) { job(); });
  }

 private:
  int threads_;
  crew host_;
};

}  // namespace coset::measure
