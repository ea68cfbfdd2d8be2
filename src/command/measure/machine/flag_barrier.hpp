// SPDX-License-Identifier: Apache-2.0
// The cheapest way to know that all ranks have arrived: one line stored, P-1 lines polled.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "coset/detail/line_spacing.hpp"
#include "coset/error.hpp"

namespace coset::measure {

/// A counter on lines of its own.
struct alignas(detail::line_spacing) flag {
  std::atomic<std::uint64_t> value{0};
};
static_assert(sizeof(flag) == detail::line_spacing);

/// More looks than a flag takes to arrive.
inline constexpr int looks_before_yields = 5000;

/// Polls until `reached()`; after this many looks, yields the processor at each look.
template <class Condition>
void spin_until(Condition reached, int looks = looks_before_yields) {
  for (int polls = 0; !reached(); ++polls) {
    if (polls >= looks) sched_yield();
  }
}

/// A barrier of P ranks: the least that a collective of all ranks has to wait. Counters only grow, so a rank that runs
/// ahead into the next round cannot hide its arrival in this one.
class flag_barrier {
 public:
  explicit flag_barrier(rank_t ranks, int looks = looks_before_yields) : flags_(ranks), looks_(looks) {}

  void arrive_and_wait(rank_t rank) noexcept {
    auto const round = flags_[rank].value.load(std::memory_order_relaxed) + 1;
    // Publishes what this rank did before the barrier. Partner: the acquire loads below, on every other rank.
    flags_[rank].value.store(round, std::memory_order_release);
    for (rank_t other = 0; other < flags_.size(); ++other) {
      if (other == rank) continue;
      spin_until([&] { return flags_[other].value.load(std::memory_order_acquire) >= round; }, looks_);
    }
  }

 private:
  std::vector<flag> flags_;
  int looks_;
};

}  // namespace coset::measure
