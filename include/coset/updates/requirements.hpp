// SPDX-License-Identifier: Apache-2.0
// What keys and values of a loop of updates have to be, in sentences that compilers show; see coset/detail/requirements.hpp.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>

#include "coset/detail/requirements.hpp"
#include "coset/updates/loop.hpp"

namespace coset::inline COSET_ABI::detail {

/// A function of the iteration.
template <class Function>
concept of_iteration = std::invocable<Function const&, std::size_t>;

/// Several things in one: std::tuple, std::array, std::pair.
template <class Thing>
concept tuple_like = requires {
  std::tuple_size<Thing>::value;
};

template <class Keys>
constexpr bool is_array_or_function() {
  if constexpr (of_iteration<Keys>) {
    return true;
  } else {
    constexpr bool has_a_length = !std::is_pointer_v<Keys>;
    static_assert(has_a_length, "a pointer does not know its length: pass std::span(pointer, count)");
    constexpr bool is_one = std::ranges::contiguous_range<Keys> && std::ranges::sized_range<Keys>;
    static_assert(
        !has_a_length || is_one,
        "keys and values are arrays whose elements lie in one piece (use std::vector<char> for std::vector<bool>), or "
        "functions that any thread may call with a std::size_t, the number of the iteration: not mutable ones");
    return is_one;
  }
}

template <class Things>
struct brought;
template <of_iteration Function>
struct brought<Function> {
  using type = std::remove_cvref_t<std::invoke_result_t<Function const&, std::size_t>>;
};
template <class Array>
requires(!of_iteration<Array> && std::ranges::range<Array>) struct brought<Array> {
  using type = std::ranges::range_value_t<Array>;
};
/// What one iteration has of keys or values.
template <class Things>
using brought_by = typename brought<Things>::type;

template <class Key>
inline constexpr bool are_indices = false;
template <tuple_like Key>
inline constexpr bool are_indices<Key> = []<std::size_t... K>(std::index_sequence<K...>) {
  return (std::integral<std::tuple_element_t<K, Key>> && ...);
}
(std::make_index_sequence<std::tuple_size_v<Key>>());

/// Whether a view's mapping finds an element by such indices.
template <class Key, class Mapping>
inline constexpr bool are_found = []<std::size_t... K>(std::index_sequence<K...>) {
  return requires(Mapping const& mapping, Key const& key) { mapping(std::get<K>(key)...); };
}
(std::make_index_sequence<std::tuple_size_v<Key>>());

/// `Mapping`: that of the target, if it is a view like std::mdspan.
template <class Keys, class Mapping>
constexpr bool are_keys() {
  if constexpr (!is_array_or_function<Keys>()) {
    return false;
  } else {
    using key = brought_by<Keys>;
    constexpr bool is_integer = std::integral<key>, has_indices = are_indices<key>;
    static_assert(is_integer || has_indices,
                  "a key is an integer, the number of an element, or an array of them, an index of each dimension");
    if constexpr (has_indices) {
      constexpr bool finds_indices = are_found<key, Mapping>;
      static_assert(finds_indices,
                    "keys of several indices need a target that finds elements by as many, a view like std::mdspan");
      return finds_indices;
    } else {
      return is_integer;
    }
  }
}

/// Not by initialising the first member of a struct.
template <class T, class Value>
concept can_be_made_of = std::convertible_to<Value const&, T> ||
    (!std::is_aggregate_v<T> && requires(Value const& value) { static_cast<T>(value); });

/// A value that one array's elements can be made of.
template <class T, class Value>
constexpr bool is_value_for() {
  if constexpr (std::same_as<Value, nothing_but_one>) {
    constexpr bool counts = half_float<T> || can_be_made_of<T, int>;
    static_assert(counts, "elements that no 1 can be made of do not count: pass values");
    return counts;
  } else {
    constexpr bool converts = can_be_made_of<T, Value>;
    static_assert(converts, "no elements of the target can be made of these values");
    return converts;
  }
}

template <class... Targets, class Value>
constexpr bool are_values_for(joint_update_target<Targets...> const*, Value const*) {
  if constexpr (std::same_as<Value, nothing_but_one>) {
    return (is_value_for<typename Targets::value_type, Value>() && ...);
  } else if constexpr (!tuple_like<Value>) {
    static_assert(tuple_like<Value>, "several arrays are updated at one index: each value is a std::tuple of theirs");
    return false;
  } else if constexpr (std::tuple_size_v<Value> != sizeof...(Targets)) {
    static_assert(std::tuple_size_v<Value> == sizeof...(Targets), "a value has to have one part for each array");
    return false;
  } else {
    return []<std::size_t... K>(std::index_sequence<K...>) {
      return (is_value_for<typename Targets::value_type, std::remove_cvref_t<std::tuple_element_t<K, Value>>>() && ...);
    }
    (std::index_sequence_for<Targets...>());
  }
}
template <class T, class Op, class Identity, class Value>
constexpr bool are_values_for(update_target<T, Op, Identity> const*, Value const*) {
  return is_value_for<T, Value>();
}

template <class Values, class Target>
constexpr bool are_values() {
  if constexpr (!is_array_or_function<Values>()) {
    return false;
  } else {
    return are_values_for(static_cast<Target const*>(nullptr), static_cast<brought_by<Values> const*>(nullptr));
  }
}

}  // namespace coset::detail
