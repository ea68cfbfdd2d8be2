// SPDX-License-Identifier: Apache-2.0
// Numbers whose sums depend on every detail, and what becomes of their bits.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

#include "coset/coset.hpp"

namespace coset::team_test {

/// Any bits.
inline std::uint64_t scrambled(rank_t rank, std::size_t index) {
  std::uint64_t x = (rank + 1) * 0x9E3779B97F4A7C15u ^ (index + 1) * 0xC2B2AE3D27D4EB4Fu;
  x = (x ^ x >> 29) * 0xBF58476D1CE4E5B9u;
  return x ^ x >> 32;
}

/// Cancellation, subnormals, zeros of both signs, infinities, NaN and ordinary numbers of all sizes.
template <class T>
T adversarial(rank_t rank, std::size_t index) {
  using limits = std::numeric_limits<float>;
  std::uint64_t const x = scrambled(rank, index);
  float const fraction = static_cast<float>(x >> 40) / 0x1p23f - 1;
  switch (index % 16) {
    case 0:
      return T((rank % 2 == 0 ? 1 : -1) * 1e30f * fraction);
    case 1:
      return T(limits::denorm_min() * static_cast<float>(x % 9));
    case 2:
      return T(x % 2 == 0 ? 0.0f : -0.0f);
    case 3:
      return T(x % 5 == 0 ? limits::infinity() : fraction);
    case 4:
      return T(x % 7 == 0 ? limits::quiet_NaN() : fraction);
    case 5:
      return T(x % 3 == 0 ? -limits::infinity() : x % 3 == 1 ? limits::infinity() : 1.0f);
    case 6:
      return T(-0.0f);
    default:
      return T(std::ldexp(fraction, static_cast<int>(x % 41) - 20));
  }
}

/// Of sums and products any NaN is as good as another: which operand's payload survives is not promised.
enum class nans : std::uint8_t { alike, by_bits };
template <class Op>
inline constexpr nans nans_of = detail::is_one_of<Op, plus, multiplies> ? nans::alike : nans::by_bits;

template <class T>
std::uint64_t bits_of(T value, nans how) {
  if (how == nans::alike && value != value) return std::uint64_t(-1);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

template <class T>
std::uint64_t hash_of(std::span<T const> values, nans how = nans::alike) {
  std::uint64_t hash = 14695981039346656037u;
  for (T const value : values) hash = (hash ^ bits_of(value, how)) * 0x100000001b3u;
  return hash;
}

}  // namespace coset::team_test
