// SPDX-License-Identifier: Apache-2.0
// Threads that go through the phases of a loop of updates together.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <atomic>
#include <cstddef>

#include "coset/updates/ways.hpp"

namespace coset::inline COSET_ABI::detail {

/// One of several threads that meet at barriers. Each makes one, of the same shared counter.
template <class Barrier>
class threads_crew {
 public:
  /// The jobs that threads have taken, of all phases so far.
  using counter = std::atomic<std::size_t>;

  /// `planned` threads have logs and shares; there may be fewer.
  threads_crew(counter& taken, std::size_t number, std::size_t present, std::size_t planned, Barrier barrier)
      : taken_(taken), number_(number), present_(present), planned_(planned), barrier_(barrier) {}

  std::size_t threads() const noexcept { return planned_; }

  /// Each thread asks once in vain, so all know where the counter stands after the phase.
  template <class Job>
  void each(std::size_t jobs, Job const& job) {
    for (;;) {
      std::size_t const next = taken_.fetch_add(1, std::memory_order_relaxed) - begin_;
      if (next >= jobs) break;
      job(next);
    }
    begin_ += jobs + present_;
    barrier_();
  }
  template <class Job>
  void each_own(Job const& job) {
    for (std::size_t k = number_; k < planned_; k += present_) job(k);
    barrier_();
  }

 private:
  counter& taken_;
  std::size_t const number_, present_, planned_;
  Barrier barrier_;
  std::size_t begin_ = 0;
};

}  // namespace coset::detail
