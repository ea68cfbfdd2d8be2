// SPDX-License-Identifier: Apache-2.0
// Any verb as one writes it by hand: a barrier, everybody takes what it needs out of the others' arrays, a barrier.
#pragma once

#include <cstring>

#include "bench/collectives/slices.hpp"

namespace coset::measure {

class by_hand {
 public:
  explicit by_hand(workload const& work)
      : work_(work), slices_(work), fold_(fold_for(work.shape().element, work.shape().operation)) {
    for (rank_t r = 0; r < work.shape().ranks; ++r) inputs_.push_back(work.input(r));
  }

  template <class Barrier>
  std::byte const* act(rank_t rank, Barrier&& barrier) const {
    problem const& p = work_.shape();
    if (p.what == verb::allreduce) return slices_.reduce_and_copy(rank, barrier);
    if (p.what == verb::reduce_shared || p.what == verb::allreduce_view) return slices_.reduce(rank, barrier);
    barrier();
    if (p.what == verb::barrier) return work_.output(rank);
    take(rank, inputs_.data());
    barrier();  // the owners rewrite their inputs
    return work_.output(rank);
  }

  /// Everything into the rank's output.
  void fold_all(rank_t rank, void const* const* from) const {
    fold_(work_.output(rank), from, work_.shape().ranks, 0, work_.shape().count);
  }

  /// What the rank ends with, out of what all ranks give, which lies in `from`; of a reduction its share.
  void take(rank_t rank, void const* const* from) const {
    problem const& p = work_.shape();
    switch (p.what) {
      case verb::reduce: {
        auto const [begin, end] = slice_of(p.count, p.ranks, rank);
        return fold_(work_.output(0), from, p.ranks, begin, end);
      }
      case verb::reduce_scatter: {
        auto const [begin, end] = piece_of(p, rank);
        std::byte* const whole = work_.output(rank) - begin * p.element_bytes();
        return fold_(whole, from, p.ranks, begin, end);
      }
      case verb::scan:
        return fold_(work_.output(rank), from, rank + 1, 0, p.count);
      case verb::broadcast:
        std::memcpy(work_.output(rank), from[0], p.bytes());
        return;
      default:  // allgather
        for (rank_t q = 0; q < p.ranks; ++q) {
          auto const [begin, end] = piece_of(p, q);
          std::memcpy(work_.output(rank) + begin * p.element_bytes(), from[q], (end - begin) * p.element_bytes());
        }
    }
  }

 private:
  workload const& work_;
  shared_slices slices_;
  fold_function fold_;
  std::vector<void const*> inputs_;
};

}  // namespace coset::measure
