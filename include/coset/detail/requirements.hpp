// SPDX-License-Identifier: Apache-2.0
// What arguments have to be, in sentences that compilers show. Each check is a static assertion, so that it speaks first
// and alone, and returns whether it holds, so that the caller can leave out what would only repeat it.
#pragma once

#include <concepts>
#include <type_traits>

#include "coset/detail/standard_parts.hpp"
#include "coset/operations.hpp"

namespace coset::inline COSET_ABI::detail {

/// Of allreduce(me, a, b, op): whether `b` is an array or has to be one, as an operation follows.
template <class Out, class Op>
concept precedes = std::ranges::range<Out> || !std::same_as<Op, plus>;

/// Never defined: what stands in for a value after an error.
template <class T>
T missing();

template <class T>
constexpr bool is_element() {
  constexpr bool no_array = !std::is_array_v<T>;
  static_assert(
      no_array,
      "elements are arrays themselves: pass the items of a matrix as one array, std::span(&a[0][0], rows * columns)");
  constexpr bool no_address = !std::is_pointer_v<T> && !std::is_member_pointer_v<T> && !std::ranges::view<T>;
  static_assert(
      no_address,
      "elements are pointers or views, which mean nothing to other ranks: pass what they point to, for example "
      "std::span(pointer, count)");
  constexpr bool travels_as_bytes = std::is_trivially_copyable_v<T> && std::is_object_v<T> && !std::is_const_v<T>;
  static_assert(
      travels_as_bytes,
      "elements travel as bytes, so they have to be trivially copyable objects that are not const; std::string, "
      "std::vector, std::pair and std::tuple are not: use a struct of numbers");
  constexpr bool fits_a_line = !travels_as_bytes || alignof(T) <= 64;
  static_assert(fits_a_line, "elements are aligned to more than 64 bytes, a cache line: align them to less");
  return element<T>;
}

/// An array that is read.
template <class Array>
constexpr bool is_array() {
  using bare_type = std::remove_cvref_t<Array>;
  constexpr bool knows_its_length = !std::is_pointer_v<bare_type>;
  static_assert(knows_its_length, "a pointer does not know its length: pass std::span(pointer, count)");
  constexpr bool in_one_piece = std::ranges::contiguous_range<Array> && std::ranges::sized_range<Array>;
  static_assert(
      !knows_its_length || in_one_piece,
      "an array is a vector, std::array, span or C array, whose elements lie in one piece: copy those of lists and "
      "deques into one, use std::vector<char> for std::vector<bool>, std::span(v.data(), v.size()) for Eigen's");
  if constexpr (in_one_piece) {
    return is_element<std::ranges::range_value_t<Array>>();
  } else {
    return false;
  }
}

/// An array that results are written into, as a forwarding reference deduces its type.
template <class Array>
constexpr bool is_result() {
  if constexpr (!is_array<Array>()) {
    return false;
  } else {
    constexpr bool writable = writable_elements<Array>;
    static_assert(writable, "the result cannot be written into const elements: pass an array that is not const");
    constexpr bool lasting = std::is_lvalue_reference_v<Array> || std::ranges::borrowed_range<Array>;
    static_assert(lasting, "the result would be lost with a temporary array: pass a variable, or a span of one");
    return writable && lasting;
  }
}

/// On elements that is_element() has passed.
template <class Op, class T>
constexpr bool is_operation() {
  constexpr bool operation_takes_elements = reduction<Op, T> || !element<T>;
  static_assert(operation_takes_elements,
                "the operation does not reduce these elements: it has to be copyable and, also if const, callable as "
                "T(T const&, T const&); plus, minimum and the like need the elements' own operator +, < and so on");
  return reduction<Op, T>;
}

/// That a reducer can fold copies by it, which are in no order.
template <class Op, class T>
constexpr bool folds_copies() {
  if constexpr (!is_operation<Op, T>()) {
    return false;
  } else {
    constexpr bool commutative = is_commutative<Op>;
    static_assert(
        commutative,
        "reducers keep no order, which noncommutative() asks for: reduce by ranks, for example with allreduce()");
    return commutative;
  }
}

template <class In, class Out>
constexpr bool moves() {
  if constexpr (!is_result<Out>()) {
    return false;
  } else if constexpr (!is_array<In>()) {
    return false;
  } else {
    constexpr bool of_one_type = same_elements<In, Out>;
    static_assert(of_one_type, "input and output have elements of different types: both need the same one");
    return of_one_type;
  }
}

/// The array is what is reduced.
template <class Array, class Op>
constexpr bool reduces() {
  if constexpr (!is_array<Array>()) {
    return false;
  } else {
    return is_operation<Op, std::ranges::range_value_t<Array>>();
  }
}

template <class In, class Out, class Op>
constexpr bool reduces_into() {
  if constexpr (std::is_pointer_v<Op> && std::is_object_v<std::remove_pointer_t<Op>>) {
    return is_array<Op>();  // it was meant for one
  } else if constexpr (!moves<In, Out>()) {
    return false;
  } else {
    return reduces<In, Op>();
  }
}

/// A value, passed as it is.
template <class T>
constexpr bool is_value() {
  if constexpr (std::is_pointer_v<T>) {
    return is_array<T>();
  } else {
    return is_element<T>();
  }
}

template <class T, class Op>
constexpr bool reduces_value() {
  if constexpr (!is_value<T>()) {
    return false;
  } else {
    return is_operation<Op, T>();
  }
}

}  // namespace coset::detail
