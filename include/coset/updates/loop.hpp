// SPDX-License-Identifier: Apache-2.0
// A loop of updates: where each goes, what it brings, and how the target takes it.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "coset/detail/requirements.hpp"
#include "coset/detail/standard_parts.hpp"
#include "coset/error.hpp"
#include "coset/identity.hpp"
#include "coset/reducers/reducer.hpp"
#include "coset/reducers/targets.hpp"

namespace coset::inline COSET_ABI::detail {

/// What an update brings where it only counts: nothing is stored for it.
struct nothing_but_one {};
struct count_one {
  constexpr nothing_but_one operator()(std::size_t) const noexcept { return {}; }
};

template <class T, class Op>
using known_identity_of = std::conditional_t<coset::has_identity<Op, T>, T, no_identity>;

/// One array, its operation, and from what private copies start; without an identity there are none.
template <class T, class Op, class Identity = known_identity_of<T, Op>>
struct update_target {
  using value_type = T;
  std::span<T> into;
  [[no_unique_address]] Op op;
  [[no_unique_address]] Identity identity = known_identity();

  std::size_t length() const noexcept { return into.size(); }
  static constexpr std::size_t element_bytes() { return sizeof(T); }
  template <class Value>
  void apply(std::size_t key, Value const& value) const {
    T& element = into.data()[key];
    element = static_cast<T>(op(element, given(value)));
  }
  /// Orders nothing else: phases of threads do.
  template <class Value>
  void apply_atomically(std::size_t key, Value const& value) const {
    if constexpr (is_lock_free) {
      std::atomic_ref<T> element(into.data()[key]);
      T const brought = given(value);
      T before = element.load(std::memory_order_relaxed);
      while (!element.compare_exchange_weak(before, static_cast<T>(op(before, brought)), std::memory_order_relaxed)) {
      }
    }
  }
  std::array<void*, 1> addresses() const { return {into.data()}; }
  /// For private copies. Only with an operation that commutes and has an identity.
  std::vector<reduced_array> copied() const {
    if constexpr (has_copies) {
      return {erased(into.size(), op, identity)};
    } else {
      return {};
    }
  }
  /// The same array elsewhere.
  update_target at(std::byte* const* begin) const {
    return {{reinterpret_cast<T*>(*begin), into.size()}, op, identity};
  }

  static constexpr std::size_t arrays = 1;
  static constexpr bool has_copies = is_commutative<Op> && !std::same_as<Identity, no_identity>;
  static constexpr bool is_lock_free =
      std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8) && alignof(T) == sizeof(T);

 private:
  static constexpr Identity known_identity() {
    if constexpr (coset::has_identity<Op, T>) {
      return identity_of<T, Op>();
    } else {
      return {};
    }
  }
  template <class Value>
  static T given(Value const& value) {
    if constexpr (std::same_as<Value, nothing_but_one>) {
      return number<T>(1);
    } else {
      return static_cast<T>(value);
    }
  }
};

/// Several arrays that are updated at one index: the values of an update are a tuple.
template <class... Targets>
struct joint_update_target {
  using value_type = std::tuple<typename Targets::value_type...>;
  std::tuple<Targets...> of;

  std::size_t length() const noexcept { return std::get<0>(of).length(); }
  static constexpr std::size_t element_bytes() { return (Targets::element_bytes() + ...); }
  template <class Values>
  void apply(std::size_t key, Values const& values) const {
    each([&](auto const& target, auto k) { target.apply(key, of_array<k>(values)); });
  }
  template <class Values>
  void apply_atomically(std::size_t key, Values const& values) const {
    each([&](auto const& target, auto k) { target.apply_atomically(key, of_array<k>(values)); });
  }
  std::array<void*, sizeof...(Targets)> addresses() const {
    std::array<void*, sizeof...(Targets)> found;
    each([&](auto const& target, auto k) { found[k] = target.into.data(); });
    return found;
  }
  std::vector<reduced_array> copied() const {
    std::vector<reduced_array> all;
    each([&](auto const& target, auto) {
      for (reduced_array& one : target.copied()) all.push_back(std::move(one));
    });
    return all;
  }
  joint_update_target at(std::byte* const* begin) const {
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      return joint_update_target{{std::get<K>(of).at(begin + K)...}};
    }
    (std::index_sequence_for<Targets...>());
  }

  static constexpr std::size_t arrays = sizeof...(Targets);

 private:
  template <class Run>
  void each(Run const& run) const {
    [&]<std::size_t... K>(std::index_sequence<K...>) { (run(std::get<K>(of), index<K>()), ...); }
    (std::index_sequence_for<Targets...>());
  }
  template <std::size_t K>
  using index = std::integral_constant<std::size_t, K>;
  template <std::size_t K, class Values>
  static decltype(auto) of_array(Values const& values) {
    if constexpr (std::same_as<Values, nothing_but_one>) {
      return (values);
    } else {
      using std::get;
      return get<K>(values);
    }
  }
};

/// The values of an update of several arrays, as they are kept for later: bytes, which a std::tuple is not.
template <class... Values>
struct update_record;
template <class Value>
struct update_record<Value> {
  Value first;
};
template <class Value, class... Others>
struct update_record<Value, Others...> {
  Value first;
  update_record<Others...> others;
};
template <class Value>
constexpr update_record<Value> recorded(Value const& value) {
  return {value};
}
template <class Value, class... Others>
requires(sizeof...(Others) > 0) constexpr update_record<Value, Others...> recorded(Value const& value,
                                                                                   Others const&... others) {
  return {value, recorded(others...)};
}
template <std::size_t K, class... Values>
constexpr auto const& get(update_record<Values...> const& record) {
  if constexpr (K == 0) {
    return record.first;
  } else {
    return get<K - 1>(record.others);
  }
}

/// Values as an array has them.
template <class T>
struct read_from {
  T const* first;
  T const& operator()(std::size_t iteration) const noexcept { return first[iteration]; }
};

/// Throws argument_error. A key below 0 is a number near 2^64.
[[noreturn]] COSET_API void refuse_key(std::size_t key, std::size_t iteration, std::size_t length);
/// The same for one of several indices.
[[noreturn]] COSET_API void refuse_index(std::size_t index, std::size_t dimension, std::size_t iteration,
                                         std::size_t extent);

/// Iterations [0, count), each with one update. `Key` and `Value` are functions of the iteration that any thread may call,
/// several times, in any order.
template <class Target, class Key, class Value>
struct update_loop {
  using target_type = Target;
  using value_type = std::remove_cvref_t<std::invoke_result_t<Value const&, std::size_t>>;

  Target target;
  Key key_of;
  Value value_of;
  std::size_t count = 0;

  /// Debug builds look whether the target has such an element; others do not, as an array does not.
  std::size_t key(std::size_t iteration) const {
    auto const found = static_cast<std::size_t>(key_of(iteration));
#ifndef NDEBUG
    if (found >= target.length()) refuse_key(found, iteration, target.length());
#endif
    return found;
  }
  value_type value(std::size_t iteration) const { return value_of(iteration); }
};

/// Loops that follow each other: those of a team's ranks, or the only one. They have one target.
template <class Loop>
class update_loops {
 public:
  explicit update_loops(Loop const& only) : update_loops(std::span(&only, 1)) {}
  /// `all` stays where it is.
  explicit update_loops(std::span<Loop const> all) : all_(all) {
    for (Loop const& each : all) count_ += each.count;
  }
  std::size_t count() const noexcept { return count_; }
  auto const& target() const noexcept { return all_.front().target; }

  /// run(loop, begin, end) for the stretches of iterations [begin, end), counted through all loops, in their order.
  template <class Run>
  void for_each(std::size_t begin, std::size_t end, Run const& run) const {
    for (Loop const& each : all_) {
      if (begin >= end) return;
      if (begin < each.count) run(each, begin, end < each.count ? end : each.count);
      begin = begin < each.count ? 0 : begin - each.count;
      end = end < each.count ? 0 : end - each.count;
    }
  }

 private:
  std::span<Loop const> all_;
  std::size_t count_ = 0;
};

}  // namespace coset::detail

namespace coset::inline COSET_ABI {

/// In place of values: each update brings a one, for which nothing is kept.
inline constexpr detail::count_one one_each;

}  // namespace coset
