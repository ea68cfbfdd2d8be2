// SPDX-License-Identifier: Apache-2.0
// Scatter-style reductions: each thread adds into any elements of a private array, and all private arrays are folded
// into one.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "coset/detail/any_team.hpp"
#include "coset/detail/collective.hpp"
#include "coset/detail/private_copy.hpp"
#include "coset/identity.hpp"
#include "coset/operations.hpp"
#include "coset/team.hpp"

namespace coset::inline COSET_ABI {

namespace detail {

template <class T, class Op>
reduced_array erased(std::size_t count, Op const& op, T const& identity) {
  return {.count = count,
          .reduction = &table_of<T, Op>(),
          .operation = kept(present(op)),
          .identity = std::make_shared<T const>(identity),
          .fill = [](void const* element, std::size_t, void* to, std::size_t number) {
            std::uninitialized_fill_n(static_cast<T*>(to), number, *static_cast<T const*>(element));
          }};
}

/// Folds with several threads where that pays; `into` as in fold_part().
inline void fold_with(reducer_core& core, void* const* into, team& with, combining how) {
  if (worthwhile_parts(core, with.size()) == 1) return fold_part(core, into, 0, 1, how);
  with.run([&](member& me) { fold_part(core, into, me.rank(), me.size(), how); });
}

/// The common part of reducers of one array, however their copies are laid out.
template <class T>
class one_array {
  static_assert((is_element<T>(), true));

 public:
  one_array(std::shared_ptr<reducer_core> core, std::size_t count) : core_(std::move(core)), count_(count) {}
  one_array(one_array&&) noexcept = default;
  one_array& operator=(one_array&&) noexcept = default;

  std::size_t size() const noexcept { return count_; }

  /// into[i] = into[i] ∘ all values reduced into element i, or only those values with combining::assign. The calling
  /// thread does the work. Afterwards all copies are empty.
  void combine_into(std::span<T> into, combining how = combining::add) { combine_part(into, 0, 1, how); }
  /// The same by a team that is not running.
  void combine_into(std::span<T> into, team& with, combining how = combining::add) {
    void* const to = checked(into);
    fold_with(*core_, &to, with, how);
  }
  /// The same inside a team, collective: every rank names the same `into`, which is complete on return. Throws the
  /// team's error if it fails; argument_error, on every rank, for another length.
  /// In a team over processes each has a reducer and an `into` of its own, which gets what all threads of all processes have
  /// reduced, or as `where` says; ranks whose lengths, types or operations differ get mismatch_error.
  void combine_into(std::span<T> into, member& me, combining how = combining::add, destination const& where = {}) {
    void* const to = into.data();
    std::size_t const length = into.size();
    fold_by_ranks(*core_, &to, &length, me.state(), how, where);
  }
  /// The same in split phase, and the array is assigned unless `how` says otherwise: copies are the combination's until it is
  /// complete, so that who goes on reducing needs another reducer, to take in turn. Every rank has called local(me) before, or
  /// has nothing to bring. Adding takes memory for another copy in each process.
  /// Sparse reducers exchange what was touched before this returns, as how much that is is not known before; what is left to
  /// wait for is the other ranks of the process. If most of the array was touched all of it travels, in split phase.
  [[nodiscard]] started_combination start_combine_into(std::span<T> into, member& me,
                                                       combining how = combining::assign) {
    void* const to = into.data();
    std::size_t const length = into.size();
    return start_combination(*core_, &to, &length, me.state(), me.rank(), how);
  }
  /// Combines one of `parts` parts, counted from 0: by any threads, in any order, each part once. Throws argument_error
  /// for a part that does not exist.
  void combine_part(std::span<T> into, std::size_t part, std::size_t parts, combining how = combining::add) {
    void* const to = checked(into);
    fold_part(*core_, &to, part, parts, how);
  }

  /// All values reduced since the reducer was made, reset or last combined into an array; the identity where there are
  /// none. They stay in the reducer, so later values are added to them. Valid until the next call that combines or
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

  /// Discards all reduced values and keeps the memory. Cost: negligible.
  void reset() noexcept { detail::reset(*core_); }

  /// One line: the array, its copies, and how often most_bytes made threads fold early.
  std::string describe() const { return detail::describe(*core_); }

  /// For adapters, which bring their own threads.
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

/// An array of `count` elements that threads reduce into without synchronisation: histograms, forces, gradients.
///
/// Each thread that calls local() gets a private copy, on its own node and not on its stack, and keeps it; when a
/// thread ends, the next thread takes over its copy. Elements start as the operation's identity. Combining folds all
/// copies and leaves them at the identity again, so that the next round may begin; it keeps their memory. Use it for
/// arrays of which most elements are touched, sparse_reducer for the others, joint_reducer for several arrays.
///
/// Any number of threads may call local() at once, inside any parallel region. Calls that combine, reset or destroy
/// come after all updates; the caller synchronises them (the end of a region, a join, a barrier).
/// Bits: copies are folded in the order of their numbers, then in the order in which threads first came. Where a team's
/// ranks or OpenMP's threads each fold their own copies, the first number differs from part to part of the array. So
/// the bits are equal on every run that gives the same work to the same numbers.
/// Cost: n·(copies + 2) elements moved, shared by the combining threads. A reducer is made in less than a microsecond:
/// it takes over the memory of copies of earlier reducers, of which up to 256 MiB are kept.
/// Throws std::bad_alloc if memory is short; argument_error for arrays of another length, and for two combinations at the
/// same time; and the operation's exceptions, after which the contents are unspecified until reset(). A reducer that ends
/// with values that were never combined says so under COSET_LOG=plan.
template <class T, class Op = plus>
class reducer : public detail::one_array<T> {
  static_assert((detail::folds_copies<Op, T>(), true));

 public:
  explicit reducer(std::size_t count)
      : reducer(count, detail::known_operation<Op>(), detail::known_identity<T, Op>()) {}
  /// With copies in memory of this kind, where the machine has several: automatic is the highest bandwidth that has room, unless
  /// COSET_MEMORY says otherwise.
  reducer(std::size_t count, memory_kind memory) : reducer(count) { detail::place_copies(this->core(), memory); }
  /// For members of this team, which outlives the reducer: `reducer<double> sum(all, count)`. Members of another team get
  /// argument_error, and where the team has several processes so does who combines or views without a member: what one process
  /// has is not the sum.
  template <detail::names_a_team Team, class... Arguments>
  reducer(Team& of, std::size_t count, Arguments&&... arguments)
      : reducer(count, std::forward<Arguments>(arguments)...) {
    detail::serve(this->core(), detail::any_team(of).state());
  }
  /// With an operation and an identity of your own.
  reducer(std::size_t count, Op op, T identity)
      : detail::one_array<T>(detail::make_reducer({detail::erased(count, op, identity)}), count),
        key_(&detail::key_of(this->core())) {}

  /// The calling thread's array. Valid until the reducer is reset; call local() again then. Cost: a few instructions;
  /// the first time, the making of a copy.
  std::span<T> local() {
    return at(
        detail::as_own, [this]() -> auto& { return detail::copy_of_this_thread(this->core()); });
  }
  /// The array with this number, for one thread at a time: where threads are numbered, results do not depend on which
  /// thread came first.
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
