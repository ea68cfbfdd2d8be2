// SPDX-License-Identifier: Apache-2.0
// Any verb as one writes it by hand: a barrier, everybody takes what it needs out of the others' arrays, a barrier.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "bench/collectives/slices.hpp"

namespace coset::measure {

/// Whose rivals somebody has written; the others are measured alone.
constexpr bool is_written_by_hand(verb what) {
  using enum verb;
  constexpr std::array all{allreduce, reduce,        reduce_scatter, allgather, broadcast, scan,
                           barrier,   reduce_shared, allreduce_view, gather,    scatter,   all_to_all};
  return std::ranges::find(all, what) != all.end();
}

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
      case verb::gather:
        return copy_piece(0, rank, from[rank], 0);
      case verb::scatter: {
        auto const [begin, end] = piece_of(p, rank);
        std::memcpy(work_.output(rank), at(from[0], begin), (end - begin) * p.element_bytes());
        return;
      }
      case verb::all_to_all:
        for (rank_t step = 0; step < p.ranks; ++step) {
          rank_t const q = (rank + step) % p.ranks;
          copy_piece(rank, q, from[q], piece_of(p, rank).begin);
        }
        return;
      case verb::allgather:
        return take_all(rank, from);
      default:
        throw argument_error("nobody has written this verb by hand: " + std::string(name_of(p.what)));
    }
  }

  /// Of a verb that only moves: what rank `from` has for rank `to`, out of its input into the other's output.
  void give(rank_t from, rank_t to) const {
    problem const& p = work_.shape();
    if (p.what == verb::broadcast || p.what == verb::scatter) return take(to, inputs_.data());
    copy_piece(to, from, inputs_[from], p.what == verb::all_to_all ? piece_of(p, to).begin : 0);
  }

  /// All ranks' pieces.
  void take_all(rank_t rank, void const* const* from) const {
    for (rank_t q = 0; q < work_.shape().ranks; ++q) copy_piece(rank, q, from[q], 0);
  }

 private:
  std::byte const* at(void const* array, std::size_t item) const {
    return static_cast<std::byte const*>(array) + item * work_.shape().element_bytes();
  }
  /// What rank q has at `item` becomes its piece in the output of `rank`.
  void copy_piece(rank_t rank, rank_t q, void const* given, std::size_t item) const {
    problem const& p = work_.shape();
    auto const [begin, end] = piece_of(p, q);
    std::memcpy(work_.output(rank) + begin * p.element_bytes(), at(given, item), (end - begin) * p.element_bytes());
  }

  workload const& work_;
  shared_slices slices_;
  fold_function fold_;
  std::vector<void const*> inputs_;
};

}  // namespace coset::measure
