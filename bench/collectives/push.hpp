// SPDX-License-Identifier: Apache-2.0
// What an expert writes for large arrays: whoever folds a slice stores it into everybody's output at once, so that no
// result is read again to be copied.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <vector>

#include "command/measure/references/fold.hpp"

namespace coset::measure {

/// As memcpy, but past the caches where the processor can. Visible to others after fence_streams() and a barrier.
void stream_copy(void* to, void const* from, std::size_t bytes);
void fence_streams();

/// Tile by tile: folded in the first-level cache, and stored from there.
class pushed_slices {
 public:
  pushed_slices(workload const& work, bool streams) : pushed_slices(work, streams, {}, {}) {
    for (rank_t r = 0; r < work.shape().ranks; ++r) {
      from_.push_back(work.input(r));
      to_.push_back(work.output(r));
    }
  }
  pushed_slices(workload const& work, bool streams, std::vector<void const*> from, std::vector<std::byte*> to)
      : work_(work),
        streams_(streams),
        fold_(fold_for(work.shape().element, work.shape().operation)),
        from_(std::move(from)),
        to_(std::move(to)) {}

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
    fold_(folded - begin * size, from_.data(), work_.shape().ranks, begin, end);
    for (std::byte* const whole : to_) {
      std::byte* const to = whole + begin * size;
      streams_ ? stream_copy(to, folded, (end - begin) * size)
               : static_cast<void>(std::memcpy(to, folded, (end - begin) * size));
    }
  }

  workload const& work_;
  bool const streams_;
  fold_function fold_;
  std::vector<void const*> from_;
  std::vector<std::byte*> to_;
};

/// The same through an array of each rank's own: inputs are copied there, slices folded and pushed there, results copied
/// from there. Each rank writes its own output, from lines that it has.
class staged_slices {
 public:
  explicit staged_slices(workload const& work) : work_(work), staging_(work.shape()) {
    std::vector<void const*> from;
    std::vector<std::byte*> to;
    for (rank_t r = 0; r < work.shape().ranks; ++r) {
      from.push_back(staging_.input(r));
      to.push_back(staging_.input(r));
    }
    slices_.emplace(work, false, from, to);
  }

  template <class Barrier>
  std::byte const* reduce(rank_t rank, Barrier&& barrier) const {
    auto const [begin, end] = slice_of(work_.shape().count, work_.shape().ranks, rank);
    std::memcpy(staging_.input(rank), work_.input(rank), work_.shape().bytes());
    barrier();
    slices_->push(begin, end);
    barrier();
    std::memcpy(work_.output(rank), staging_.input(rank), work_.shape().bytes());
    return work_.output(rank);
  }

 private:
  workload const& work_;
  workload const staging_;
  std::optional<pushed_slices> slices_;
};

}  // namespace coset::measure
