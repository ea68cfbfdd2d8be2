// SPDX-License-Identifier: Apache-2.0
// Scatter-style reductions: any thread adds anywhere into an array of its own, and all arrays are folded into one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "coset/detail/collective.hpp"
#include "coset/detail/private_copy.hpp"
#include "coset/identity.hpp"
#include "coset/operations.hpp"
#include "coset/team.hpp"

namespace coset {

/// One thread's private array of a reducer; a few words, to be held by value.
///
/// An element starts as the operation's identity, and so it does again after it was combined. Good until the reducer
/// is reset: take it anew then. For the thread that got it, or for whoever got that number. With
/// reducer_options::most_bytes a reference is good until the next call of operator[] or span().
template <element T>
class private_array {
 public:
  private_array(detail::reducer_core& of, detail::private_copy& copy, std::size_t size, unsigned shift,
                detail::tracking how) noexcept
      : data_(reinterpret_cast<T*>(copy.data)),
        touched_(copy.touched),
        size_(size),
        shift_(shift),
        tracking_(how),
        of_(&of),
        copy_(&copy) {}

  std::size_t size() const noexcept { return size_; }

  /// Cost: that of an array's; where blocks are tracked, a byte stored; where they are filled late (under a cap, or if
  /// the identity is not zero), also one read.
  T& operator[](std::size_t index) const {
    if (tracking_ != detail::tracking::none) {
      std::size_t const block = index >> shift_;
      if (tracking_ == detail::tracking::fills_late && touched_[block] == detail::mark::untouched) [[unlikely]]
        detail::touch(*of_, *copy_, block);
      touched_[block] = detail::mark::touched;
    }
    return data_[index];
  }

  /// Elements [first, first + count) to be read and written without further ado. Touches all their blocks.
  std::span<T> span(std::size_t first, std::size_t count) const {
    if (count > 0 && tracking_ != detail::tracking::none) {
      std::size_t const block = first >> shift_;
      detail::touch(*of_, *copy_, block, ((first + count - 1) >> shift_) - block + 1);
    }
    return {data_ + first, count};
  }
  std::span<T> span() const { return span(0, size_); }

 private:
  T* data_;
  detail::mark* touched_;
  std::size_t size_;
  unsigned shift_;
  detail::tracking tracking_;
  detail::reducer_core* of_;
  detail::private_copy* copy_;
};

/// An array of `count` elements that threads reduce into without seeing each other: histograms, forces, gradients.
///
/// Each thread that calls local() gets a private copy, on its own node and not on its stack, and keeps it; a thread
/// that ends leaves its copy to the next one. Combining folds all copies and leaves them empty, so that the next round
/// may begin; their memory stays. Of large arrays, blocks that no thread has touched are neither filled nor folded.
///
/// local() may be called by any number of threads at once, inside whatever parallel region. Whatever combines, resets
/// or destroys comes after all updates, by the caller's synchronisation (the end of a region, a join, a barrier).
/// Bits: copies are folded in the order of their numbers, then in the order in which threads first came; where a team's
/// ranks or OpenMP's threads fold their own, from another number on in each part of the array. So they are equal on every
/// run that gives the same work to the same numbers, if most_bytes is not exceeded.
/// Cost: n·(touched copies + 2) elements moved for a dense array, shared by those who combine.
/// Throws std::bad_alloc where memory is short; argument_error for arrays of another length; and what the operation
/// throws, after which the contents are unspecified until reset().
template <element T, reduction<T> Op = plus>
requires detail::is_commutative<Op>
class reducer {
 public:
  explicit reducer(std::size_t count,
                   reducer_options const& options = {}) requires has_identity<Op, T> && std::default_initializable<Op>
      : reducer(count, Op{}, identity_of<T, Op>(), options) {}
  /// With an operation and an identity of your own.
  reducer(std::size_t count, Op op, T identity, reducer_options const& options = {})
      : core_(detail::make_reducer({.count = count,
                                    .reduction = &detail::table_of<T, Op>(),
                                    .operation = detail::kept(op),
                                    .identity = std::make_shared<T const>(identity),
                                    .fill = fill},
                                   options)),
        size_(count),
        shift_(detail::block_shift(*core_)),
        tracking_(detail::tracking_of(*core_)) {}

  std::size_t size() const noexcept { return size_; }

  /// The calling thread's array. Cost: some nanoseconds; the making of a copy the first time.
  private_array<T> local() { return {*core_, detail::copy_of_this_thread(*core_), size_, shift_, tracking_}; }
  /// The array of this number, for one thread at a time: where threads are numbered, results do not depend on who came
  /// first.
  private_array<T> local(std::uint32_t number) {
    return {*core_, detail::copy_numbered(*core_, number), size_, shift_, tracking_};
  }
  private_array<T> local(member& me) { return local(me.rank()); }

  /// into[i] = into[i] ∘ all that was reduced into element i, by the calling thread alone.
  void combine_into(std::span<T> into) {
    detail::require_length(*core_, into.size());
    detail::fold_part(*core_, into.data(), 0, 1);
  }
  /// The same by a team that is not running.
  void combine_into(std::span<T> into, team& with) {
    detail::require_length(*core_, into.size());
    fold_with(into.data(), with);
  }
  /// The same inside a team, collective: every rank names the same `into`, and finds it complete on return. Throws what
  /// the team fails with; argument_error, on every rank, for another length, and in a team over processes, which have no
  /// common array.
  void combine_into(std::span<T> into, member& me) {
    detail::fold_by_ranks(*core_, into.data(), into.size(), me.state());
  }

  /// All that was reduced since the reducer was made, reset or last combined into an array: the identity where that is
  /// nothing. Stays part of the reducer, so what comes later adds to it. Good until the next call that combines or
  /// resets.
  std::span<T const> view() {
    void* const total = detail::total_of(*core_);
    detail::fold_part(*core_, nullptr, 0, 1);
    return {static_cast<T const*>(total), size_};
  }
  std::span<T const> view(team& with) {
    void* const total = detail::total_of(*core_);
    fold_with(nullptr, with);
    return {static_cast<T const*>(total), size_};
  }

  /// Forgets all that was reduced; the memory stays. Cost: none to speak of.
  void reset() noexcept { detail::reset(*core_); }

  /// One line: the array, its blocks, its copies, and how often most_bytes made threads fold early.
  std::string describe() const { return detail::describe(*core_); }

  /// For adapters, which bring other threads.
  detail::reducer_core& core() const noexcept { return *core_; }

 private:
  static void fill(void const* element, std::size_t, void* to, std::size_t count) {
    std::fill_n(static_cast<T*>(to), count, *static_cast<T const*>(element));
  }

  void fold_with(void* into, team& with) {
    if (detail::worthwhile_parts(*core_, with.size()) == 1) return detail::fold_part(*core_, into, 0, 1);
    with.run([&](member& me) { detail::fold_part(*core_, into, me.rank(), me.size()); });
  }

  std::shared_ptr<detail::reducer_core> core_;
  std::size_t size_;
  unsigned shift_;
  detail::tracking tracking_;
};

}  // namespace coset
