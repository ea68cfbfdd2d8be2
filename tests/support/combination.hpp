// SPDX-License-Identifier: Apache-2.0
// An element type with an operation that it takes, without their types.
#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "coset/coset.hpp"
#include "coset/detail/reduction.hpp"

namespace coset::team_test {

/// An element type and an operation, on arrays of `count` elements.
struct combination {
  std::string name;
  detail::reduction_table const* reduction;
  detail::reduction_table const* copy;
  void const* operation;
  std::size_t bytes;
  /// Elements first, first + 1 … of what a seed stands for: few values, so small that results are exact in any order.
  void (*give)(void* to, std::uint64_t seed, std::size_t first, std::size_t count);
  void (*fold)(void* into, void const* next, std::size_t count);
  /// The first element that differs, or `count`.
  std::size_t (*differ)(void const* a, void const* b, std::size_t count);
  std::string (*show)(void const* element);
};

/// Seven bytes, aligned to one: neither vectors nor cache lines are made of them.
struct seven {
  unsigned char bytes[7];
  friend bool operator==(seven const&, seven const&) = default;
};
struct bytewise_sum {
  seven operator()(seven a, seven const& b) const noexcept {
    for (int k = 0; k < 7; ++k) a.bytes[k] = static_cast<unsigned char>(a.bytes[k] + b.bytes[k]);
    return a;
  }
};

/// x ↦ ax + b modulo 2^64: composition is associative and does not commute.
struct affine {
  std::uint64_t a, b;
  friend bool operator==(affine const&, affine const&) = default;
};
struct composition {
  affine operator()(affine const& f, affine const& g) const noexcept { return {g.a * f.a, g.a * f.b + g.b}; }
};

namespace values {

/// By way of float, which all others than integers are made of.
template <class T>
T of_int(int small) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(small);
  } else {
    return static_cast<T>(static_cast<float>(small));
  }
}

template <class T, class Op>
T number(std::uint64_t random) {
  auto const small = static_cast<int>(random % 17) - 8;
  if constexpr (std::is_same_v<Op, multiplies>) {
    bool const may_grow = random % 5 == 0 && !std::is_same_v<T, float16>;
    return of_int<T>((small % 2 == 0 ? 1 : -1) * (may_grow ? 2 : 1));
  } else if constexpr (detail::is_one_of<Op, logical_and, logical_or, logical_xor>) {
    return of_int<T>(static_cast<int>(random % 2));
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(random >> 7);  // wraps
  } else {
    return of_int<T>(small);
  }
}

template <class T, class Op>
T value(std::uint64_t random) {
  if constexpr (std::is_same_v<T, seven>) {
    seven made;
    std::memcpy(made.bytes, &random, sizeof made);
    return made;
  } else if constexpr (std::is_same_v<T, affine>) {
    return {random | 1, random >> 5};
  } else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    using part = typename T::value_type;
    if (std::is_same_v<Op, multiplies>) return random % 2 == 0 ? T(0, 1) : T(-1, 0);
    return T(number<part, plus>(random), number<part, plus>(random >> 20));
  } else if constexpr (detail::is_located<T>) {
    return {number<decltype(T::value), minimum>(random), static_cast<decltype(T::index)>(random >> 30 & 1023)};
  } else if constexpr (std::is_same_v<T, bool>) {
    return random % 2 == 0;
  } else {
    return number<T, Op>(random);
  }
}

}  // namespace values

template <class T, class Op>
combination combine(Op const& op) {
  static Op const operation = op;
  return {std::string(detail::name_of<T>()).append(" ").append(detail::name_of<Op>()),
          &detail::table_of<T, Op>(),
          &detail::copy_of<T>(),
          &operation,
          sizeof(T),
          [](void* to, std::uint64_t seed, std::size_t first, std::size_t count) {
            for (std::size_t i = 0; i < count; ++i) {
              std::uint64_t x = seed * 0x9E3779B97F4A7C15u + (first + i) * 0xBF58476D1CE4E5B9u;
              x = (x ^ x >> 31) * 0x94D049BB133111EBu;
              static_cast<T*>(to)[i] = values::value<T, Op>(x ^ x >> 29);
            }
          },
          [](void* into, void const* next, std::size_t count) {
            T* const a = static_cast<T*>(into);
            for (std::size_t i = 0; i < count; ++i) a[i] = operation(a[i], static_cast<T const*>(next)[i]);
          },
          [](void const* a, void const* b, std::size_t count) {
            T const *x = static_cast<T const*>(a), *y = static_cast<T const*>(b);
            return static_cast<std::size_t>(std::mismatch(x, x + count, y).first - x);
          },
          [](void const* element) -> std::string {
            if constexpr (std::is_arithmetic_v<T>) return std::to_string(*static_cast<T const*>(element));
            return "another";
          }};
}

}  // namespace coset::team_test
