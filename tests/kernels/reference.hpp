// SPDX-License-Identifier: Apache-2.0
// The plain scalar folds that kernels are compared with, and the values that they are compared on.
#pragma once

#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "coset/binned.hpp"
#include "runtime/kernels/kernels.hpp"

namespace coset::kernels::test {

inline constexpr char const* operation_names[] = {"plus",    "multiplies", "minimum", "maximum",
                                                  "bit_and", "bit_or",     "bit_xor", "reproducible_plus"};
inline constexpr char const* element_names[] = {"int8",    "int16",   "int32",     "int64",     "uint8",
                                                "uint16",  "uint32",  "uint64",    "float16",   "bfloat16",
                                                "float32", "float64", "complex64", "complex128"};

/// visit(T()) for the element type.
template <class Visit>
void for_type(element type, Visit visit) {
  switch (type) {
    case element::int8:
      return visit(std::int8_t());
    case element::int16:
      return visit(std::int16_t());
    case element::int32:
      return visit(std::int32_t());
    case element::int64:
      return visit(std::int64_t());
    case element::uint8:
      return visit(std::uint8_t());
    case element::uint16:
      return visit(std::uint16_t());
    case element::uint32:
      return visit(std::uint32_t());
    case element::uint64:
      return visit(std::uint64_t());
    case element::float16:
      return visit(float16());
    case element::bfloat16:
      return visit(bfloat16());
    case element::float32:
      return visit(float());
    case element::float64:
      return visit(double());
    case element::complex64:
      return visit(std::complex<float>());
    case element::complex128:
      return visit(std::complex<double>());
  }
}

template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<std::complex<T>> = true;

/// Minimum after IEEE 754-2019, spelled out by cases.
template <class T>
T minimum_of(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
    if (a == b) return std::signbit(a) ? a : b;
  }
  return a < b ? a : b;
}

template <class T>
T maximum_of(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
    if (a == b) return std::signbit(a) ? b : a;
  }
  return a < b ? b : a;
}

template <class T>
T integer_result(operation op, T a, T b) {
  std::uint64_t const x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);  // integers wrap
  switch (op) {
    case operation::plus:
      return static_cast<T>(x + y);
    case operation::multiplies:
      return static_cast<T>(x * y);
    case operation::bit_and:
      return static_cast<T>(x & y);
    case operation::bit_or:
      return static_cast<T>(x | y);
    case operation::bit_xor:
      return static_cast<T>(x ^ y);
    default:
      return op == operation::minimum ? minimum_of(a, b) : maximum_of(a, b);
  }
}

template <class T>
T apply(operation op, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return integer_result(op, a, b);
  } else if constexpr (is_complex<T>) {
    return a + b;
  } else {
    return op == operation::plus         ? a + b
           : op == operation::multiplies ? a * b
           : op == operation::minimum    ? minimum_of(a, b)
                                         : maximum_of(a, b);
  }
}

/// One element left to right over the sources. 16-bit floats are folded as floats and rounded once.
template <class T>
T folded(operation op, std::vector<std::vector<T>> const& from, std::size_t sources, std::size_t i) {
  if constexpr (std::is_floating_point_v<T>) {
    if (op == operation::reproducible_plus && sources > 1) {
      binned<T> sum(from[0][i]);
      for (std::size_t k = 1; k < sources; ++k) sum += from[k][i];
      return sum.value();
    }
  }
  if constexpr (half_float<T>) {
    if (sources == 1) return from[0][i];
    float value = from[0][i];
    for (std::size_t k = 1; k < sources; ++k) value = apply<float>(op, value, from[k][i]);
    return T(value);
  } else {
    T value = from[0][i];
    for (std::size_t k = 1; k < sources; ++k) value = apply(op, value, from[k][i]);
    return value;
  }
}

template <class T>
std::vector<T> fold(operation op, std::vector<std::vector<T>> const& from, std::size_t sources) {
  std::vector<T> result;
  for (std::size_t i = 0; i < from[0].size(); ++i) result.push_back(folded(op, from, sources, i));
  return result;
}

/// Equal bits, except that sums and products may be any NaN: which operand's payload survives is not promised.
template <class T>
bool same(operation op, T a, T b) {
  if constexpr (is_complex<T>) {
    return same(op, a.real(), b.real()) && same(op, a.imag(), b.imag());
  } else {
    bool const any_nan = op == operation::plus || op == operation::multiplies;
    if constexpr (!std::is_integral_v<T>) {
      if (any_nan && a != a && b != b) return true;
    }
    return std::memcmp(&a, &b, sizeof a) == 0;
  }
}

template <class T>
std::vector<T> special_floats() {
  using limits = std::numeric_limits<T>;
  T const nan = limits::quiet_NaN();
  T const payload = [nan] {
    T value = nan;
    reinterpret_cast<unsigned char*>(&value)[0] |= 5;
    return value;
  }();
  return {T(0),
          -T(0),
          T(1),
          T(-1),
          limits::infinity(),
          -limits::infinity(),
          limits::max(),
          limits::lowest(),
          limits::min(),
          -limits::denorm_min(),
          nan,
          -nan,
          payload};
}

template <class T>
std::vector<T> special_values() {
  if constexpr (std::is_integral_v<T>) {
    using limits = std::numeric_limits<T>;
    return {0, 1, static_cast<T>(-1), limits::min(), limits::max(), static_cast<T>(limits::min() + 1)};
  } else if constexpr (is_complex<T>) {
    std::vector<T> values;
    for (auto const part : special_floats<typename T::value_type>()) values.emplace_back(part, 1);
    return values;
  } else if constexpr (half_float<T>) {
    std::vector<T> values{T(65504.0f), T(-65504.0f), T(0x1p-24f), T(0x1p-133f)};
    for (float const value : special_floats<float>()) values.emplace_back(value);
    return values;
  } else {
    return special_floats<T>();
  }
}

/// Random bits of moderate size, with a special value now and then.
template <class T>
T random_value(std::mt19937_64& random) {
  static auto const special = special_values<T>();
  if (random() % 16 == 0) return special[random() % special.size()];
  auto const number = [&] { return std::uniform_real_distribution<double>(-2, 2)(random); };
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(random());
  } else if constexpr (is_complex<T>) {
    using part = typename T::value_type;
    return {static_cast<part>(number()), static_cast<part>(number())};
  } else {
    return T(static_cast<std::conditional_t<half_float<T>, float, T>>(number()));
  }
}

}  // namespace coset::kernels::test
