// SPDX-License-Identifier: Apache-2.0
// Scatter-style reductions into several arrays and values at once.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "coset/reducers/reducer.hpp"
#include "coset/reducers/targets.hpp"
#include "coset/reducers/written_types.hpp"

namespace coset::inline COSET_ABI {
namespace detail {

/// The same pointer through an opaque statement: otherwise compilers recompute base + offset at every access in a loop
/// (g++ 12 does).
template <class T>
T* one_number(T* pointer) {
  asm("" : "+r"(pointer));
  return pointer;
}

/// Targets and their private copies. Each thread's copies are one piece of memory, whichever threads they are.
template <class... Targets>
class joint_copies {
  static constexpr std::size_t number = sizeof...(Targets);
  template <std::size_t Index>
  using type_of = typename std::tuple_element_t<Index, std::tuple<Targets...>>::value_type;

 public:
  explicit joint_copies(std::tuple<Targets...> targets) : targets_(std::move(targets)) { fit(); }

  /// Reads the lengths of the targets again. Values that were not combined are lost.
  void fit() {
    auto const lengths = places().lengths;
    core_ = std::apply(
        [](Targets const&... each) { return make_reducer({erased(each.place.count(), each.op, each.identity)...}); },
        targets_);
    counts_ = lengths;  // only now: make_reducer() may throw
    key_ = &key_of(*core_);
    for (std::size_t k = 0; k < number; ++k) offsets_[k] = offset_of(*core_, k);
  }

  /// The views of the thread's copy: the one it got last, or what get() returns.
  template <class Get>
  decltype(auto) local(std::uint64_t how, Get get) {
    std::byte* const copy = recent_or(*key_, how, get);
    std::array<void*, number> begin;
    for (std::size_t k = 0; k < number; ++k) begin[k] = copy + offsets_[k];
    return seen(begin);
  }
  /// The views of the targets themselves. Throws as checked() does.
  decltype(auto) local_in_place() { return seen(checked()); }

  reducer_core& core() const noexcept { return *core_; }

  auto places() const {
    return std::apply([](Targets const&... each) { return joint_places(each.place...); }, targets_);
  }
  /// Throws argument_error if a target's length now differs from that of its copies.
  std::array<void*, number> checked() const {
    auto const now = places();
    if (now.lengths != counts_) require_lengths(*core_, now.lengths.data());
    return now.data;
  }
  /// The same for other arrays and values, for one call.
  template <class... Things>
  std::array<void*, number> checked_others(Things&&... things) const {
    static_assert((is_place<Things>() && ...));
    std::tuple const given(place_of(std::forward<Things>(things))...);
    auto const others = std::apply([](auto const&... each) { return joint_places(each...); }, given);
    static_assert(std::same_as<typename decltype(others)::value_types, std::tuple<typename Targets::value_type...>>,
                  "pass as many arrays or values as there are targets, of the same element types");
    if (others.lengths != counts_) require_lengths(*core_, others.lengths.data());
    bool const same = [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      return (same_layout(std::get<Index>(targets_).place, std::get<Index>(given)) && ...);
    }
    (std::make_index_sequence<number>());
    if (!same) throw argument_error("views whose extents or strides differ from those of the targets");
    return others.data;
  }

 private:
  template <std::size_t Index>
  decltype(auto) seen_one(void* begin) const {
    return std::get<Index>(targets_).place.seen(one_number(static_cast<type_of<Index>*>(begin)), counts_[Index]);
  }
  decltype(auto) seen(std::array<void*, number> const& begin) const {
    return [&]<std::size_t... Index>(std::index_sequence<Index...>)->decltype(auto) {
      if constexpr (number == 1) {
        return (seen_one<Index>(begin[Index]), ...);
      } else {
        return std::tuple<decltype(seen_one<Index>(begin[Index]))...>(seen_one<Index>(begin[Index])...);
      }
    }
    (std::make_index_sequence<number>());
  }

  std::tuple<Targets...> targets_;
  std::shared_ptr<reducer_core> core_;
  std::uint64_t const* key_ = nullptr;
  std::array<std::size_t, number> counts_, offsets_;
};

template <class... Written>
using copies_of = joint_copies<target_of<Written>...>;

}  // namespace detail

/// Several arrays and values that threads reduce into at once, combined by one call:
///
///     coset::joint_reducer<double, float, coset::value_of<double, coset::maximum>> sums(charge, current, fastest);
///     // each thread:
///     auto [q, j, top] = sums.local();  // std::span, std::span, a reference to an element
///     q[cell] += …; j[cell] += …; top = std::max(top, speed);
///     // after all threads:
///     sums.combine();
///
/// Targets may be vectors, arrays, spans, views like std::mdspan and single elements. The type says of each what it is
/// and by which operation it is reduced: `double` for an array of double and its sum, array_of, value_of and view_of for
/// the others. The type may be left out; into() then selects an operation other than the sum:
/// `joint_reducer sums(charge, current, into(fastest, maximum{}))`. into() also brings identities, and operations that are
/// more than their types.
///
/// The targets belong to the caller: only the combining calls read and write them, and destroying the reducer does not.
/// Each combining call asks for their addresses, so vectors may grow; call fit() before the next local() then. With one
/// target, local() returns its view instead of a tuple. Threads, bits, cost and errors as for reducer.
///
/// A loop that adds to a single value in every iteration should use a local variable and add that to the value once:
/// the compiler cannot know that no array aliases the value.
template <class... Written>
class joint_reducer {
 public:
  template <class... Things>
  requires(sizeof...(Written) > 0 && sizeof...(Things) > 0 &&
           !(std::same_as<std::remove_cvref_t<Things>, joint_reducer> ||
             ...)) explicit joint_reducer(Things&&... things)
      : copies_(detail::as_targets<Written...>(std::forward<Things>(things)...)) {}
  /// As reducer's: `joint_reducer sums(all, charge, current)`.
  template <detail::names_a_team Team, class... Things>
  requires(sizeof...(Written) > 0 && sizeof...(Things) > 0) explicit joint_reducer(Team& of, Things&&... things)
      : joint_reducer(std::forward<Things>(things)...) {
    of_ = &detail::any_team(of).state();
    detail::serve(copies_.core(), *of_);
  }
  joint_reducer(joint_reducer&&) noexcept = default;
  joint_reducer& operator=(joint_reducer&&) noexcept = default;

  /// As reducer's: the calling thread's copy, or the copy with a number.
  decltype(auto) local() {
    return copies_.local(
        detail::as_own, [this]() -> auto& { return detail::copy_of_this_thread(copies_.core()); });
  }
  decltype(auto) local(std::uint32_t number) {
    return copies_.local(
        detail::by_number(number), [ =, this ]() -> auto& { return detail::copy_numbered(copies_.core(), number); });
  }
  decltype(auto) local(member& me) { return local(me.rank()); }

  /// Adds everything to the targets, or assigns it to them: by the calling thread alone, by a team that is not running,
  /// or inside a team as a collective.
  void combine(combining how = combining::add) { combine_part(0, 1, how); }
  void combine(team& with, combining how = combining::add) {
    detail::fold_with(copies_.core(), copies_.checked().data(), with, how);
  }
  void combine(member& me, combining how = combining::add, destination const& where = {}) {
    auto const places = copies_.places();
    detail::fold_by_ranks(copies_.core(), places.data.data(), places.lengths.data(), me.state(), how, where);
  }
  /// As reducer's start_combine_into().
  [[nodiscard]] started_combination start_combine(member& me, combining how = combining::assign) {
    auto const places = copies_.places();
    return detail::start_combination(copies_.core(), places.data.data(), places.lengths.data(), me.state(), me.rank(),
                                     how);
  }
  /// Combines one of `parts` parts, counted from 0: by any threads, in any order, each part once. Throws argument_error
  /// for a part that does not exist.
  void combine_part(std::size_t part, std::size_t parts, combining how = combining::add) {
    detail::fold_part(copies_.core(), copies_.checked().data(), part, parts, how);
  }
  /// Combines into other arrays and values of the same lengths, for this call only.
  template <class... Things>
  void combine_into(Things&&... things) {
    detail::fold_part(copies_.core(), copies_.checked_others(std::forward<Things>(things)...).data(), 0, 1);
  }

  /// Reads the lengths of the targets again. Values that were not combined are lost. Do not call it between local() and
  /// the combining call.
  void fit() {
    copies_.fit();
    if (of_ != nullptr) detail::serve(copies_.core(), *of_);
  }
  /// Discards all reduced values.
  void reset() noexcept { detail::reset(copies_.core()); }
  std::string describe() const { return detail::describe(copies_.core()); }

 private:
  detail::copies_of<Written...> copies_;
  detail::team_state const* of_ = nullptr;  ///< whose members combine, if that was said
};

template <class... Things>
explicit joint_reducer(Things&&...) -> joint_reducer<detail::written_for<Things>...>;
template <detail::names_a_team Team, class... Things>
explicit joint_reducer(Team&, Things&&...) -> joint_reducer<detail::written_for<Things>...>;

}  // namespace coset
