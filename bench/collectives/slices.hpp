// SPDX-License-Identifier: Apache-2.0
// The hand-written way: a barrier, everybody folds a slice, a barrier. With whatever barrier the rival's threads have.
#pragma once

#include <cstring>

#include "command/measure/references/fold.hpp"

namespace coset::measure {

/// One shared result. Two barriers per iteration: the first one of the next iteration protects this result's readers.
class shared_slices {
 public:
  explicit shared_slices(workload const& work)
      : work_(work), fold_(fold_for(work.shape().element, work.shape().operation)) {
    for (rank_t r = 0; r < work.shape().ranks; ++r) inputs_.push_back(work.input(r));
  }

  template <class Barrier>
  std::byte const* reduce(rank_t rank, Barrier&& barrier) const {
    auto const [begin, end] = slice_of(work_.shape().count, work_.shape().ranks, rank);
    barrier();
    fold_(work_.shared_output(), inputs_.data(), work_.shape().ranks, begin, end);
    barrier();
    return work_.shared_output();
  }

  /// The same, and a copy for each rank.
  template <class Barrier>
  std::byte const* reduce_and_copy(rank_t rank, Barrier&& barrier) const {
    std::memcpy(work_.output(rank), reduce(rank, barrier), work_.shape().bytes());
    return work_.output(rank);
  }

 private:
  workload const& work_;
  fold_function fold_;
  std::vector<void const*> inputs_;
};

/// For small arrays: everybody publishes a copy, one barrier, everybody folds everything. Copies alternate between two
/// places, so that the next iteration's barrier protects their readers.
class published_copies {
 public:
  explicit published_copies(workload const& work)
      : work_(work), fold_(fold_for(work.shape().element, work.shape().operation)) {
    for (auto& turn : turns_) {
      for (rank_t r = 0; r < work.shape().ranks; ++r) {
        turn.copies.emplace_back(work.shape().bytes() / sizeof(cache_line) + 1);
        turn.addresses.push_back(turn.copies.back().data());
      }
    }
  }

  template <class Barrier>
  std::byte const* reduce(rank_t rank, std::size_t k, Barrier&& barrier) {
    auto& turn = turns_[k % 2];
    std::memcpy(turn.copies[rank].data(), work_.input(rank), work_.shape().bytes());
    barrier();
    fold_(work_.output(rank), turn.addresses.data(), work_.shape().ranks, 0, work_.shape().count);
    return work_.output(rank);
  }

 private:
  struct alignas(64) cache_line {
    std::byte bytes[64];
  };
  struct generation {
    std::vector<std::vector<cache_line>> copies;  ///< [rank]
    std::vector<void const*> addresses;           ///< of the copies
  };

  workload const& work_;
  fold_function fold_;
  generation turns_[2];
};

}  // namespace coset::measure
