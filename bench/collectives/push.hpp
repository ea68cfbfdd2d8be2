// SPDX-License-Identifier: Apache-2.0
// What an expert writes for large arrays: whoever folds a slice stores it into everybody's output at once, so that no
// result is read again to be copied.
#pragma once

#include <algorithm>
#include <cstring>

#include "bench/collectives/fold.hpp"

namespace coset::bench {

/// As memcpy, but past the caches where the processor can. Visible to others after fence_streams() and a barrier.
void stream_copy(void* to, void const* from, std::size_t bytes);
void fence_streams();

/// Tile by tile: folded in the first-level cache, and stored from there.
class pushed_slices {
 public:
  pushed_slices(workload const& work, bool streams)
      : work_(work), streams_(streams), fold_(fold_for(work.shape().element, work.shape().operation)) {
    for (rank_t r = 0; r < work.shape().ranks; ++r) inputs_.push_back(work.input(r));
  }

  /// Between two barriers: the first ends the rewriting of inputs, the second everybody's stores.
  template <class Barrier>
  std::byte const* reduce(rank_t rank, Barrier&& barrier) const {
    auto const [begin, end] = slice_of(work_.shape().count, work_.shape().ranks, rank);
    barrier();
    push(begin, end);
    barrier();
    return work_.output(rank);
  }

  void push(std::size_t begin, std::size_t end) const {
    for (std::size_t at = begin; at < end; at += tile) push_tile(at, std::min(end, at + tile));
    if (streams_) fence_streams();
  }

 private:
  static constexpr std::size_t tile = 512;  ///< items

  void push_tile(std::size_t begin, std::size_t end) const {
    std::size_t const size = work_.shape().element_bytes();
    alignas(64) std::byte folded[tile * sizeof(double)];
    fold_(folded - begin * size, inputs_.data(), work_.shape().ranks, begin, end);
    for (rank_t r = 0; r < work_.shape().ranks; ++r) {
      std::byte* const to = work_.output(r) + begin * size;
      streams_ ? stream_copy(to, folded, (end - begin) * size)
               : static_cast<void>(std::memcpy(to, folded, (end - begin) * size));
    }
  }

  workload const& work_;
  bool const streams_;
  fold_function fold_;
  std::vector<void const*> inputs_;
};

}  // namespace coset::bench
