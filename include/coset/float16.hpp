// SPDX-License-Identifier: Apache-2.0
// 16-bit floating-point elements: IEEE binary16 and bfloat16, as two bytes that convert to float and back.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <bit>
#include <concepts>
#include <cstdint>

namespace coset::inline COSET_ABI {

namespace detail {

constexpr float widened_binary16(std::uint16_t half) {
  std::uint32_t const sign = std::uint32_t{half & 0x8000u} << 16, magnitude = std::uint32_t{half & 0x7fffu} << 13;
  constexpr std::uint32_t rebias = (127 - 15) << 23;
  if (magnitude >= 0x7c00u << 13)  // infinity, or a NaN made quiet
    return std::bit_cast<float>(sign | 0x7f800000u | magnitude | (magnitude > 0x7c00u << 13 ? 0x400000u : 0u));
  if (magnitude >= 1u << 23) return std::bit_cast<float>(sign | (magnitude + rebias));
  float const subnormal = std::bit_cast<float>(magnitude + rebias + (1u << 23)) - 0x1p-14f;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(subnormal));
}

constexpr std::uint16_t rounded_binary16(float value) {
  std::uint32_t const bits = std::bit_cast<std::uint32_t>(value), magnitude = bits & 0x7fffffffu;
  auto const signed_bits = [bits](std::uint32_t half) {
    return static_cast<std::uint16_t>((bits >> 16 & 0x8000u) | half);
  };
  if (magnitude > 0x7f800000u) return signed_bits(0x7e00u | (magnitude >> 13 & 0x3ffu));
  if (magnitude >= 0x47800000u) return signed_bits(0x7c00u);  // 2^16 and more
  // One unit of 0.5f is one of the subnormals: the addition rounds to nearest even.
  if (magnitude < 0x38800000u)
    return signed_bits(std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u);
  std::uint32_t const odd = magnitude >> 13 & 1;
  return signed_bits((magnitude - ((127u - 15u) << 23) + 0xfffu + odd) >> 13);
}

constexpr float widened_bfloat16(std::uint16_t half) { return std::bit_cast<float>(std::uint32_t{half} << 16); }

constexpr std::uint16_t rounded_bfloat16(float value) {
  std::uint32_t const bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

}  // namespace detail

/// IEEE 754 binary16: 11 bits of precision up to 65504. Conversion from float rounds to nearest even.
///
/// Sums and products over ranks keep their partial results in float and are rounded once.
struct float16 {
  float16() = default;
  constexpr explicit float16(float value) : bits(detail::rounded_binary16(value)) {}
  constexpr operator float() const { return detail::widened_binary16(bits); }
  std::uint16_t bits;
};

/// The upper half of a float: 8 bits of precision, float's range. Otherwise as float16.
struct bfloat16 {
  bfloat16() = default;
  constexpr explicit bfloat16(float value) : bits(detail::rounded_bfloat16(value)) {}
  constexpr operator float() const { return detail::widened_bfloat16(bits); }
  std::uint16_t bits;
};

static_assert(sizeof(float16) == 2 && sizeof(bfloat16) == 2);

/// An element that is two bytes of a float.
template <class T>
concept half_float = std::same_as<T, float16> || std::same_as<T, bfloat16>;

}  // namespace coset
