// SPDX-License-Identifier: Apache-2.0
// Scatter-style reductions into large arrays of which threads touch little, or whose copies have to fit a memory limit.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "coset/reducers/reducer.hpp"
#include "coset/reducers/sparse_array.hpp"

namespace coset::inline COSET_ABI {

/// A reducer of which a round costs what was updated, for arrays beyond the caches of which a round touches little. Like
/// reducer, but what local() returns cannot be read: `mine[k] += x`, see sparse_array.
///
/// A thread either keeps its updates for later, sorted by parts of the array, or has a private copy of which it tracks the
/// blocks that it touches. Which, the reducer chooses at each combination by what it counted then, in all threads together: it
/// begins by keeping updates, unless a copy is at most 512 KiB, and goes on with copies as soon as so many updates fall on so
/// few blocks that copies cost less. sparse_array::span() fixes copies. sparse_options::by is an order.
/// Memory: updates, each with an index of four bytes; as soon as those of a thread come to a quarter of the array, they are
/// applied to a copy of its own.
/// Bits: the target's value comes first, then copies in the order of their numbers, then updates that were kept, thread after
/// thread in the order of their numbers, each thread's in its order. So the bits are equal on every run that gives the same
/// work to the same numbers, and if all updates were kept they are those of one thread that does the threads' work one after
/// the other. If sparse_options::most_bytes is exceeded, the order varies.
/// Operations are called where updates are applied: by the thread itself, or by those that combine, whose calls throw what the
/// operation throws.
template <class T, class Op = plus>
class sparse_reducer : public detail::one_array<T> {
  static_assert((detail::folds_copies<Op, T>(), true));

 public:
  explicit sparse_reducer(std::size_t count, sparse_options const& options = {})
      : sparse_reducer(count, detail::known_operation<Op>(), detail::known_identity<T, Op>(), options) {}
  /// As reducer's.
  template <detail::names_a_team Team, class... Arguments>
  sparse_reducer(Team& of, std::size_t count, Arguments&&... arguments)
      : sparse_reducer(count, std::forward<Arguments>(arguments)...) {
    detail::serve(this->core(), detail::any_team(of).state());
  }
  sparse_reducer(std::size_t count, Op op, T identity, sparse_options const& options = {})
      : detail::one_array<T>(detail::make_sparse_reducer(array(count, op, identity), options), count) {}

  /// As reducer's. Cost: some nanoseconds.
  sparse_array<T, Op> local() { return of(detail::copy_of_this_thread(this->core())); }
  sparse_array<T, Op> local(std::uint32_t number) { return of(detail::copy_numbered(this->core(), number)); }
  sparse_array<T, Op> local(member& me) { return local(me.rank()); }
  /// For adapters: the copy with this number, or the thread's own copy if another thread has claimed the number.
  sparse_array<T, Op> claimed(std::uint32_t number) { return of(detail::copy_claimed(this->core(), number)); }

 private:
  sparse_array<T, Op> of(detail::private_copy& copy) { return {this->core(), copy, this->size()}; }
  static detail::reduced_array array(std::size_t count, Op const& op, T const& identity) {
    detail::reduced_array made = detail::erased(count, op, identity);
    made.later = detail::update_code_of<T, Op>();
    return made;
  }
};

}  // namespace coset
