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

namespace detail {

template <class T, class Op>
reduced_array array_of(std::size_t count, Op const& op, T const& identity) {
  return {.count = count,
          .reduction = &table_of<T, Op>(),
          .operation = kept(op),
          .identity = std::make_shared<T const>(identity),
          .fill = [](void const* element, std::size_t, void* to, std::size_t number) {
            std::fill_n(static_cast<T*>(to), number, *static_cast<T const*>(element));
          }};
}

/// Several threads where that pays; `into` as in fold_part().
inline void fold_with(reducer_core& core, void* const* into, team& with, combining how) {
  if (worthwhile_parts(core, with.size()) == 1) return fold_part(core, into, 0, 1, how);
  with.run([&](member& me) { fold_part(core, into, me.rank(), me.size(), how); });
}

/// What reducers of one array have in common, whatever their copies look like.
template <element T>
class one_array {
 public:
  one_array(std::shared_ptr<reducer_core> core, std::size_t count) : core_(std::move(core)), count_(count) {}
  one_array(one_array&&) noexcept = default;
  one_array& operator=(one_array&&) noexcept = default;

  std::size_t size() const noexcept { return count_; }

  /// into[i] = into[i] ∘ all that was reduced into element i, or that alone if it is to be assigned, by the calling thread
  /// alone. Afterwards all copies are empty.
  void combine_into(std::span<T> into, combining how = combining::add) { combine_part(into, 0, 1, how); }
  /// The same by a team that is not running.
  void combine_into(std::span<T> into, team& with, combining how = combining::add) {
    void* const to = checked(into);
    fold_with(*core_, &to, with, how);
  }
  /// The same inside a team, collective: every rank names the same `into`, and finds it complete on return. Throws what
  /// the team fails with; argument_error, on every rank, for another length, and in a team over processes, which have no
  /// common array.
  void combine_into(std::span<T> into, member& me, combining how = combining::add) {
    void* const to = into.data();
    std::size_t const length = into.size();
    fold_by_ranks(*core_, &to, &length, me.state(), how);
  }
  /// One of `parts` parts of it, from 0 on: by any threads, in any order, each part once.
  void combine_part(std::span<T> into, std::size_t part, std::size_t parts, combining how = combining::add) {
    void* const to = checked(into);
    fold_part(*core_, &to, part, parts, how);
  }

  /// All that was reduced since the reducer was made, reset or last combined into an array: the identity where that is
  /// nothing. Stays part of the reducer, so what comes later adds to it. Good until the next call that combines or
  /// resets.
  std::span<T const> view() {
    auto const total = of_total();
    fold_part(*core_, nullptr, 0, 1);
    return total;
  }
  std::span<T const> view(team& with) {
    auto const total = of_total();
    fold_with(*core_, nullptr, with, combining::add);
    return total;
  }

  /// Forgets all that was reduced; the memory stays. Cost: none to speak of.
  void reset() noexcept { detail::reset(*core_); }

  /// One line: the array, its copies, and how often most_bytes made threads fold early.
  std::string describe() const { return detail::describe(*core_); }

  /// For adapters, which bring other threads.
  reducer_core& core() const noexcept { return *core_; }

 private:
  void* checked(std::span<T> into) const {
    std::size_t const length = into.size();
    require_lengths(*core_, &length);
    return into.data();
  }
  std::span<T const> of_total() const { return {reinterpret_cast<T const*>(total_of(*core_).data), count_}; }

  std::shared_ptr<reducer_core> core_;
  std::size_t count_;
};

}  // namespace detail

/// An array of `count` elements that threads reduce into without seeing each other: histograms, forces, gradients.
///
/// Each thread that calls local() gets a private copy, on its own node and not on its stack, and keeps it; a thread
/// that ends leaves its copy to the next one. An element starts as the operation's identity, and so it does again after
/// it was combined: combining folds all copies and leaves them empty, so that the next round may begin; their memory stays.
/// For arrays of which most is touched; sparse_reducer is for the others, joint_reducer for several.
///
/// local() may be called by any number of threads at once, inside whatever parallel region. Whatever combines, resets
/// or destroys comes after all updates, by the caller's synchronisation (the end of a region, a join, a barrier).
/// Bits: copies are folded in the order of their numbers, then in the order in which threads first came; where a team's
/// ranks or OpenMP's threads fold their own, from another number on in each part of the array. So they are equal on every
/// run that gives the same work to the same numbers.
/// Cost: n·(copies + 2) elements moved, shared by those who combine. Made in less than a microsecond: memory of copies
/// goes from one reducer to the next, up to 256 MiB that nobody has.
/// Throws std::bad_alloc where memory is short; argument_error for arrays of another length; and what the operation
/// throws, after which the contents are unspecified until reset().
template <element T, reduction<T> Op = plus>
requires detail::is_commutative<Op>
class reducer : public detail::one_array<T> {
 public:
  explicit reducer(std::size_t count) requires has_identity<Op, T> && std::default_initializable<Op>
      : reducer(count, Op{}, identity_of<T, Op>()) {}
  /// With an operation and an identity of your own.
  reducer(std::size_t count, Op op, T identity)
      : detail::one_array<T>(detail::make_reducer({detail::array_of(count, op, identity)}), count),
        key_(&detail::key_of(this->core())) {}

  /// The calling thread's array; good until the reducer is reset, then take it anew. Cost: a few instructions; the making
  /// of a copy the first time.
  std::span<T> local() {
    return at(
        detail::as_own, [this]() -> auto& { return detail::copy_of_this_thread(this->core()); });
  }
  /// The array of this number, for one thread at a time: where threads are numbered, results do not depend on who came
  /// first.
  std::span<T> local(std::uint32_t number) {
    return at(
        detail::by_number(number), [ =, this ]() -> auto& { return detail::copy_numbered(this->core(), number); });
  }
  std::span<T> local(member& me) { return local(me.rank()); }

 private:
  template <class Get>
  std::span<T> at(std::uint64_t how, Get get) {
    return {reinterpret_cast<T*>(detail::recent_or(*key_, how, get)), this->size()};
  }

  std::uint64_t const* key_;
};

}  // namespace coset
