// SPDX-License-Identifier: Apache-2.0
// What can be reduced with what: elements, operations, and the concepts that tie them together.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstdint>
#include <limits>
#include <ranges>
#include <type_traits>

namespace coset {

/// Anything that may travel between ranks as bytes. Pointers and views would arrive, but mean nothing on another rank.
template <class T>
concept element = std::is_trivially_copyable_v<T> && std::is_object_v<T> && !std::is_const_v<T> &&
                  !std::is_pointer_v<T> && !std::is_member_pointer_v<T> && !std::is_array_v<T> && !std::ranges::view<T>;

/// An operation on T: pure, associative, and commutative unless wrapped in `noncommutative`.
template <class Op, class T>
concept reduction = element<T> && std::copy_constructible<Op> && requires(Op const& op, T const& a, T const& b) {
  { op(a, b) } -> std::convertible_to<T>;
};

/// A contiguous array whose length is known: vector, array, span, C array.
template <class Range>
concept elements = std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
    element<std::ranges::range_value_t<Range>>;

/// Such an array that results can be written to.
template <class Range>
concept writable_elements =
    elements<Range> && !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<Range>>>;

/// Arrays of one element type.
template <class In, class Out>
concept same_elements = std::same_as<std::ranges::range_value_t<In>, std::ranges::range_value_t<Out>>;

/// a + b. Integers wrap.
struct plus {
  template <element T>
  constexpr T operator()(T const& a, T const& b) const {
    if constexpr (std::integral<T>) {
      return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    } else {
      return a + b;
    }
  }
};

/// a · b. Integers wrap.
struct multiplies {
  template <element T>
  constexpr T operator()(T const& a, T const& b) const {
    if constexpr (std::integral<T>) {
      return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    } else {
      return a * b;
    }
  }
};

namespace detail {

/// The order in which floating-point numbers are compared here: −0 before +0, and any NaN wins as the canonical one.
template <bool Greater, std::floating_point T>
constexpr T choose(T a, T b) {
  if (a != a || b != b) return std::numeric_limits<T>::quiet_NaN();
  if (a == b) return std::signbit(a) == Greater ? b : a;
  return (a < b) != Greater ? a : b;
}

}  // namespace detail

/// The smaller one. Floating point: NaN propagates as the canonical quiet NaN, −0 < +0.
struct minimum {
  template <element T>
  constexpr T operator()(T const& a, T const& b) const {
    if constexpr (std::floating_point<T>) {
      return detail::choose<false>(a, b);
    } else {
      return b < a ? b : a;
    }
  }
};

/// The larger one. Floating point: NaN propagates as the canonical quiet NaN, −0 < +0.
struct maximum {
  template <element T>
  constexpr T operator()(T const& a, T const& b) const {
    if constexpr (std::floating_point<T>) {
      return detail::choose<true>(a, b);
    } else {
      return a < b ? b : a;
    }
  }
};

}  // namespace coset
