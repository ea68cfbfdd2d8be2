// SPDX-License-Identifier: Apache-2.0
// Elements, operations, and the concepts that say which operations reduce which elements.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "coset/binned.hpp"
#include "coset/detail/standard_parts.hpp"
#include "coset/float16.hpp"

namespace coset::inline COSET_ABI {

/// A type that can travel between ranks as bytes. Pointers and views would arrive, but mean nothing on another rank.
/// Elements lie on cache lines on their way, so they may need at most 64 bytes of alignment.
template <class T>
concept element = std::is_trivially_copyable_v<T> && std::is_object_v<T> && !std::is_const_v<T> && alignof(T) <= 64 &&
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

/// Such an array into which results can be written.
template <class Range>
concept writable_elements =
    elements<Range> && !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<Range>>>;

/// Arrays of the same element type.
template <class In, class Out>
concept same_elements = std::same_as<std::ranges::range_value_t<In>, std::ranges::range_value_t<Out>>;

namespace detail {

/// An unsigned type at least as wide as T, in which arithmetic wraps.
template <std::integral T>
using wrapping =
    typename std::conditional_t<sizeof(T) <= 8, std::type_identity<std::uint64_t>, std::make_unsigned<T>>::type;

}  // namespace detail

/// a + b. Integers wrap.
struct plus {
  template <element T>
  requires requires(T const& a, T const& b) { static_cast<T>(a + b); }
  constexpr T operator()(T const& a, T const& b) const {
    if constexpr (std::integral<T>) {
      return static_cast<T>(static_cast<detail::wrapping<T>>(a) + static_cast<detail::wrapping<T>>(b));
    } else {
      return static_cast<T>(a + b);
    }
  }
};

/// a · b. Integers wrap.
struct multiplies {
  template <element T>
  requires requires(T const& a, T const& b) { static_cast<T>(a * b); }
  constexpr T operator()(T const& a, T const& b) const {
    if constexpr (std::integral<T>) {
      return static_cast<T>(static_cast<detail::wrapping<T>>(a) * static_cast<detail::wrapping<T>>(b));
    } else {
      return static_cast<T>(a * b);
    }
  }
};

namespace detail {

template <class T>
concept ordered_number = std::integral<T> || std::floating_point<T> || half_float<T>;

/// The order by which numbers are compared here: −0 before +0. Unordered if either is a NaN. The compilers' functions are what
/// <cmath> names, whose other contents take long to read.
template <ordered_number T>
constexpr bool before(T a, T b) {
  if constexpr (std::floating_point<T>) {
    return a < b || (a <= b && __builtin_signbit(a) && !__builtin_signbit(b));
  } else if constexpr (half_float<T>) {
    return before<float>(a, b);
  } else {
    return a < b;
  }
}

template <ordered_number T>
constexpr bool is_nan(T value) {
  if constexpr (std::integral<T>) {
    return false;
  } else if constexpr (half_float<T>) {
    return is_nan<float>(value);
  } else {
    return __builtin_isnan(value);
  }
}

/// The NaN that minima and maxima return for any NaN; 0 for types without NaN.
template <ordered_number T>
constexpr T canonical_nan() {
  if constexpr (half_float<T>) {
    return T(std::numeric_limits<float>::quiet_NaN());
  } else {
    return std::numeric_limits<T>::quiet_NaN();
  }
}

}  // namespace detail

/// The smaller one. Floating point: NaN propagates as the canonical quiet NaN, −0 < +0. A single contribution (of a
/// team of one rank, or of rank 0 to a scan) is copied, not folded, whatever the operation; so a NaN there keeps its
/// payload.
struct minimum {
  template <element T>
  requires requires(T const& a, T const& b) { static_cast<bool>(a < b); }
  constexpr T operator()(T const& a, T const& b) const {
    if constexpr (detail::ordered_number<T>) {
      if (detail::is_nan(a) || detail::is_nan(b)) return detail::canonical_nan<T>();
      return detail::before(b, a) ? b : a;
    } else {
      return b < a ? b : a;
    }
  }
};

/// The larger one. Otherwise like minimum.
struct maximum {
  template <element T>
  requires requires(T const& a, T const& b) { static_cast<bool>(a < b); }
  constexpr T operator()(T const& a, T const& b) const {
    if constexpr (detail::ordered_number<T>) {
      if (detail::is_nan(a) || detail::is_nan(b)) return detail::canonical_nan<T>();
      return detail::before(a, b) ? b : a;
    } else {
      return a < b ? b : a;
    }
  }
};

/// a & b, a | b, a ^ b.
struct bit_and {
  template <element T>
  requires requires(T const& a, T const& b) { static_cast<T>(a & b); }
  constexpr T operator()(T const& a, T const& b) const { return static_cast<T>(a & b); }
};
struct bit_or {
  template <element T>
  requires requires(T const& a, T const& b) { static_cast<T>(a | b); }
  constexpr T operator()(T const& a, T const& b) const { return static_cast<T>(a | b); }
};
struct bit_xor {
  template <element T>
  requires requires(T const& a, T const& b) { static_cast<T>(a ^ b); }
  constexpr T operator()(T const& a, T const& b) const { return static_cast<T>(a ^ b); }
};

/// a and b as truth values. The result is 1 or 0 once two values have been combined.
struct logical_and {
  template <element T>
  requires requires(T const& a) { static_cast<bool>(a); }
  constexpr T operator()(T const& a, T const& b) const noexcept(std::is_arithmetic_v<T>) {
    return static_cast<T>(static_cast<bool>(a) && static_cast<bool>(b));
  }
};
struct logical_or {
  template <element T>
  requires requires(T const& a) { static_cast<bool>(a); }
  constexpr T operator()(T const& a, T const& b) const noexcept(std::is_arithmetic_v<T>) {
    return static_cast<T>(static_cast<bool>(a) || static_cast<bool>(b));
  }
};
struct logical_xor {
  template <element T>
  requires requires(T const& a) { static_cast<bool>(a); }
  constexpr T operator()(T const& a, T const& b) const noexcept(std::is_arithmetic_v<T>) {
    return static_cast<T>(static_cast<bool>(a) != static_cast<bool>(b));
  }
};

/// A value and its index: the elements of minimum_location and maximum_location.
template <class T, std::integral Index = std::int64_t>
struct located {
  T value;
  Index index;
  friend bool operator==(located const&, located const&) = default;
};

namespace detail {

/// The better of two located values by `Better`; of equal values, and of NaNs, the one with the lowest index.
template <class Better, ordered_number T, class Index>
constexpr located<T, Index> better(located<T, Index> const& a, located<T, Index> const& b) {
  auto const& lower = b.index < a.index ? b : a;
  if (is_nan(a.value) || is_nan(b.value))
    return {canonical_nan<T>(), is_nan(a.value) && is_nan(b.value) ? lower.index : is_nan(a.value) ? a.index : b.index};
  if (Better{}(a.value, b.value)) return a;
  return Better{}(b.value, a.value) ? b : lower;
}

struct comes_before {
  template <ordered_number T>
  constexpr bool operator()(T a, T b) const noexcept {
    return before(a, b);
  }
};
struct comes_after {
  template <ordered_number T>
  constexpr bool operator()(T a, T b) const noexcept {
    return before(b, a);
  }
};

}  // namespace detail

/// The smallest located value; ties take the lowest index. NaN and zeros as in minimum.
struct minimum_location {
  template <detail::ordered_number T, class Index>
  constexpr located<T, Index> operator()(located<T, Index> const& a, located<T, Index> const& b) const noexcept {
    return detail::better<detail::comes_before>(a, b);
  }
};

/// The largest located value; ties take the lowest index. NaN and zeros as in maximum.
struct maximum_location {
  template <detail::ordered_number T, class Index>
  constexpr located<T, Index> operator()(located<T, Index> const& a, located<T, Index> const& b) const noexcept {
    return detail::better<detail::comes_after>(a, b);
  }
};

/// Your own operation for which f(a, b) and f(b, a) differ: it is applied in rank order.
template <class Op>
struct noncommutative {
  explicit constexpr noncommutative(Op op) : operation(op) {}
  template <class T>
  requires reduction<Op, T>
  constexpr T operator()(T const& a, T const& b) const noexcept(noexcept(operation(a, b))) {
    return static_cast<T>(operation(a, b));
  }
  [[no_unique_address]] Op operation;
};

/// Your own operation for which the bracketing does not change any bit of a result. Plans whose ranks bracket
/// differently may serve it.
template <class Op>
struct exact {
  explicit constexpr exact(Op op) : operation(op) {}
  template <class T>
  requires reduction<Op, T>
  constexpr T operator()(T const& a, T const& b) const noexcept(noexcept(operation(a, b))) {
    return static_cast<T>(operation(a, b));
  }
  [[no_unique_address]] Op operation;
};

/// Sums of float or double with the same bits for every number of ranks, every order and every plan.
///
/// The result is the sum of all summands, each without its bits more than 64 below the largest summand, rounded once.
/// For n summands it differs from the exact sum by at most half a unit of the result plus n·2^−64 of the largest
/// summand, far less than plain summation can. (Where large summands cancel to the last bit, the part more than 64 bits
/// below them is lost, as in plain summation in most orders.) It overflows only if the sum does. Infinities and −0 as
/// in plain summation, NaN as the canonical one. See binned.hpp for sums of several values per rank.
/// Cost: eleven additions for each addition of plain summation, so some eight times its time in cache and less where
/// memory limits; 40 bytes for each partial result that crosses a step, which plans of small teams do not have.
/// Source: binned summation, Demmel, Ahrens and Nguyen, "Efficient Reproducible Floating Point Summation and BLAS".
struct reproducible_plus {
  template <element T>
  requires std::same_as<T, float> || std::same_as<T, double> T operator()(T const& a, T const& b) const {
    binned<T> sum(a);
    return (sum += b).value();
  }
};

namespace detail {

template <class Op>
inline constexpr bool is_commutative = true;
template <class Op>
inline constexpr bool is_commutative<noncommutative<Op>> = false;
template <class Op>
inline constexpr bool is_commutative<exact<Op>> = is_commutative<Op>;

template <class T>
inline constexpr bool is_located = false;
template <ordered_number T, class Index>
inline constexpr bool is_located<located<T, Index>> = true;

template <class Op, class... Any>
inline constexpr bool is_one_of = (std::same_as<Op, Any> || ...);

/// Whether counting a contribution twice leaves the result unchanged.
template <class Op, class T>
inline constexpr bool is_idempotent = (ordered_number<T> && is_one_of<Op, minimum, maximum>) ||
                                      (ordered_number<T> && is_one_of<Op, logical_and, logical_or>) ||
                                      (std::integral<T> && is_one_of<Op, bit_and, bit_or>) ||
                                      (is_located<T> && is_one_of<Op, minimum_location, maximum_location>);

/// Whether the bracketing cannot change the bits of a result.
template <class Op, class T>
inline constexpr bool is_exact = is_idempotent<Op, T> || is_one_of<Op, reproducible_plus> ||
                                 (ordered_number<T> && is_one_of<Op, logical_xor>) ||
                                 (std::integral<T> && is_one_of<Op, plus, multiplies, bit_xor>);
template <class Op, class T>
inline constexpr bool is_exact<exact<Op>, T> = true;
template <class Op, class T>
inline constexpr bool is_exact<noncommutative<Op>, T> = is_exact<Op, T>;

}  // namespace detail

}  // namespace coset
