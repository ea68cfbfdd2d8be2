// SPDX-License-Identifier: Apache-2.0
// Scatter-style reductions into large arrays of which threads touch little, or whose copies have to fit a memory limit.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "coset/reducers/reducer.hpp"

namespace coset::inline COSET_ABI {

/// One thread's private array of a sparse reducer: a few words, held by value.
///
/// Valid until the reducer is reset; call local() again then. Only for the thread that got it, or for the current user
/// of the number. With sparse_options::most_bytes a reference is valid until the next call of operator[] or span().
template <class T>
class sparse_array {
 public:
  sparse_array(detail::reducer_core& of, detail::private_copy& copy, std::size_t size, unsigned shift,
               bool fills_late) noexcept
      : data_(reinterpret_cast<T*>(copy.data)),
        touched_(copy.touched),
        size_(size),
        shift_(shift),
        fills_late_(fills_late),
        of_(&of),
        copy_(&copy) {}

  std::size_t size() const noexcept { return size_; }

  /// Cost: an array access and a byte stored, and one byte read if blocks are filled late: under a memory limit, or if
  /// the identity is not zero.
  T& operator[](std::size_t index) const {
    std::size_t const block = index >> shift_;
    if (fills_late_ && touched_[block] == detail::mark::untouched) [[unlikely]]
      detail::touch(*of_, *copy_, block);
    touched_[block] = detail::mark::touched;
    return data_[index];
  }

  /// Elements [first, first + count), to read and write without calling operator[]. Touches all their blocks. Throws
  /// argument_error for elements beyond the array.
  std::span<T> span(std::size_t first, std::size_t count) const {
    return {reinterpret_cast<T*>(detail::elements_of(*of_, *copy_, first, count)), count};
  }
  std::span<T> span() const { return span(0, size_); }

 private:
  T* data_;
  detail::mark* touched_;
  std::size_t size_;
  unsigned shift_;
  bool fills_late_;
  detail::reducer_core* of_;
  detail::private_copy* copy_;
};

/// A reducer that tracks which blocks each thread has touched. Untouched blocks cost neither memory nor time, but each
/// access marks its block. For arrays beyond the caches of which a round touches little: with 1 % of 16 Mi doubles
/// within a window it takes a fortieth of the time. Otherwise like reducer; bits are the same on every run if
/// most_bytes is not exceeded.
template <class T, class Op = plus>
class sparse_reducer : public detail::one_array<T> {
  static_assert((detail::folds_copies<Op, T>(), true));

 public:
  explicit sparse_reducer(std::size_t count, sparse_options const& options = {})
      : sparse_reducer(count, detail::known_operation<Op>(), detail::known_identity<T, Op>(), options) {}
  sparse_reducer(std::size_t count, Op op, T identity, sparse_options const& options = {})
      : detail::one_array<T>(detail::make_sparse_reducer(detail::erased(count, op, identity), options), count),
        shift_(detail::block_shift(this->core())),
        fills_late_(detail::tracking_of(this->core()) == detail::tracking::fills_late) {}

  /// As reducer's. Cost: some nanoseconds.
  sparse_array<T> local() { return of(detail::copy_of_this_thread(this->core())); }
  sparse_array<T> local(std::uint32_t number) { return of(detail::copy_numbered(this->core(), number)); }
  sparse_array<T> local(member& me) { return local(me.rank()); }
  /// For adapters: the copy with this number, or the thread's own copy if another thread has claimed the number.
  sparse_array<T> claimed(std::uint32_t number) { return of(detail::copy_claimed(this->core(), number)); }

 private:
  sparse_array<T> of(detail::private_copy& copy) { return {this->core(), copy, this->size(), shift_, fills_late_}; }

  unsigned shift_;
  bool fills_late_;
};

}  // namespace coset
