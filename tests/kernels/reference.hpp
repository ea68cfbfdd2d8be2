// SPDX-License-Identifier: Apache-2.0
// The plain scalar folds that kernels are compared with, and the values that they are compared on.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "kernels/kernels.hpp"

namespace coset::kernels::test {

template <class T>
using bits_of = std::make_unsigned_t<std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>>;

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
T apply(operation op, T a, T b) {
  using arithmetic = std::conditional_t<std::is_integral_v<T>, bits_of<T>, T>;  // integers wrap
  switch (op) {
    case operation::plus:
      return static_cast<T>(static_cast<arithmetic>(a) + static_cast<arithmetic>(b));
    case operation::multiplies:
      return static_cast<T>(static_cast<arithmetic>(a) * static_cast<arithmetic>(b));
    case operation::minimum:
      return minimum_of(a, b);
    case operation::maximum:
      return maximum_of(a, b);
  }
  return a;
}

/// Left to right over the first `sources` of `from`.
template <class T>
std::vector<T> fold(operation op, std::vector<std::vector<T>> const& from, std::size_t sources) {
  std::vector<T> folded = from[0];
  for (std::size_t k = 1; k < sources; ++k) {
    for (std::size_t i = 0; i < folded.size(); ++i) folded[i] = apply(op, folded[i], from[k][i]);
  }
  return folded;
}

/// Equal bits, except that sums and products may be any NaN: which operand's payload survives is not promised.
template <class T>
bool same(operation op, T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    bool const any_nan = op == operation::plus || op == operation::multiplies;
    if (any_nan && std::isnan(a) && std::isnan(b)) return true;
  }
  return std::bit_cast<bits_of<T>>(a) == std::bit_cast<bits_of<T>>(b);
}

template <class T>
std::vector<T> special_values() {
  using limits = std::numeric_limits<T>;
  if constexpr (std::is_integral_v<T>) {
    return {0, 1, -1, limits::min(), limits::max(), limits::min() + 1};
  } else {
    T const nan = limits::quiet_NaN();
    T const payload = std::bit_cast<T>(static_cast<bits_of<T>>(std::bit_cast<bits_of<T>>(nan) | 5));
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
}

/// Random bits of moderate size, with a special value now and then.
template <class T>
T random_value(std::mt19937_64& random) {
  if (random() % 16 == 0) {
    auto const special = special_values<T>();
    return special[random() % special.size()];
  }
  if constexpr (std::is_integral_v<T>) return static_cast<T>(random());
  return static_cast<T>(std::uniform_real_distribution<double>(-2, 2)(random));
}

}  // namespace coset::kernels::test
