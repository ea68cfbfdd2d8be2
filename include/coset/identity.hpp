// SPDX-License-Identifier: Apache-2.0
// Identities of operations: the values from which private copies start.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <concepts>
#include <limits>
#include <type_traits>

#include "coset/detail/requirements.hpp"
#include "coset/detail/standard_parts.hpp"
#include "coset/operations.hpp"

namespace coset::inline COSET_ABI {

namespace detail {

template <class T>
inline constexpr bool is_complex_number = false;
template <std::floating_point T>
inline constexpr bool is_complex_number<std::complex<T>> = true;

template <class T>
concept any_number = ordered_number<T> || is_complex_number<T> || is_one_of<T, binned<float>, binned<double>>;

template <class Op>
struct bare {
  using type = Op;
};
template <class Op>
struct bare<exact<Op>> : bare<Op> {};

/// The largest value of T, with Sign −1 the smallest: an infinity where T has one. Minima start from it.
template <ordered_number T, int Sign>
constexpr T extreme() {
  if constexpr (half_float<T>) {
    return T(static_cast<float>(Sign) * std::numeric_limits<float>::infinity());
  } else if constexpr (std::floating_point<T>) {
    return static_cast<T>(Sign) * std::numeric_limits<T>::infinity();
  } else {
    return Sign > 0 ? std::numeric_limits<T>::max() : std::numeric_limits<T>::lowest();
  }
}

template <class Op, class T>
inline constexpr bool has_identity = (is_one_of<Op, plus> && any_number<T>) ||
                                     (is_one_of<Op, multiplies> && (ordered_number<T> || is_complex_number<T>)) ||
                                     (is_one_of<Op, minimum, maximum, logical_and, logical_or, logical_xor> &&
                                      ordered_number<T>) ||
                                     (is_one_of<Op, bit_and, bit_or, bit_xor> && std::integral<T>) ||
                                     (is_one_of<Op, minimum_location, maximum_location> && is_located<T>) ||
                                     (is_one_of<Op, reproducible_plus> && std::floating_point<T>);

/// T(value), also for 16-bit floats and complex numbers.
template <class T>
constexpr T number(int value) {
  if constexpr (half_float<T>) {
    return T(static_cast<float>(value));
  } else if constexpr (is_complex_number<T>) {
    return T(static_cast<typename T::value_type>(value));
  } else {
    return static_cast<T>(value);
  }
}

template <class Op, class T>
constexpr T built_in_identity() {
  if constexpr (is_located<T>) {
    constexpr int sign = is_one_of<Op, minimum_location> ? 1 : -1;
    return {extreme<decltype(T::value), sign>(), extreme<decltype(T::index), 1>()};
  } else if constexpr (is_one_of<Op, minimum>) {
    return extreme<T, 1>();
  } else if constexpr (is_one_of<Op, maximum>) {
    return extreme<T, -1>();
  } else if constexpr (is_one_of<Op, bit_and>) {
    return std::same_as<T, bool> ? T(true) : static_cast<T>(-1);
  } else if constexpr (is_one_of<Op, multiplies, logical_and>) {
    return number<T>(1);
  } else {
    static_assert(is_one_of<Op, plus, bit_or, bit_xor, logical_or, logical_xor, reproducible_plus>);
    return number<T>(0);
  }
}

}  // namespace detail

/// An operation on T whose identity coset knows. For other operations, pass the identity as an argument.
template <class Op, class T>
concept has_identity = reduction<Op, T> && detail::has_identity<typename detail::bare<Op>::type, T>;

/// The e with op(e, x) == x: 0, 1, an infinity, the extreme of the type, or all bits 0 or 1. As in OpenMP, a sum starts
/// from +0, so a sum of only −0 is +0.
template <element T, class Op>
requires has_identity<Op, T>
constexpr T identity_of() { return detail::built_in_identity<typename detail::bare<Op>::type, T>(); }

namespace detail {

/// What a reducer starts from that was told only the types of its elements and operation.
template <class Op>
constexpr Op known_operation() {
  constexpr bool operation_is_known = std::is_class_v<Op> && std::default_initializable<Op>;
  static_assert(operation_is_known, "the operation has to be given, not only its type, and its identity with it");
  if constexpr (operation_is_known) {
    return Op{};
  } else {
    return missing<Op>();
  }
}
template <class T, class Op>
constexpr T known_identity() {
  constexpr bool identity_is_known = coset::has_identity<Op, T> || !reduction<Op, T>;
  static_assert(identity_is_known,
                "this operation's identity has to be given, too: coset knows those of its own operations on numbers");
  if constexpr (coset::has_identity<Op, T>) {
    return identity_of<T, Op>();
  } else {
    return missing<T>();
  }
}

}  // namespace detail

}  // namespace coset
