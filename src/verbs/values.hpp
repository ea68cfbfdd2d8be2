// SPDX-License-Identifier: Apache-2.0
// Every element and operation that has a number in C, in the order of these numbers: C and Python ask these rows.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "coset/coset.h"
#include "coset/operations.hpp"

namespace coset::values {

/// "float32" is COSET_FLOAT32 in C.
template <class... T>
struct list {
  std::array<std::string_view, sizeof...(T)> names;

  static constexpr std::size_t size = sizeof...(T);
  template <class Call>
  static constexpr auto applied(Call call) {
    return call.template operator()<T...>();
  }
};

inline constexpr list<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t,
                      std::uint64_t, float16, bfloat16, float, double, std::complex<float>, std::complex<double>, bool,
                      located<float>, located<double>, located<std::int32_t>, located<std::int64_t>>
    elements{{"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16",
              "float32", "float64", "complex64", "complex128", "bool", "float32_location", "float64_location",
              "int32_location", "int64_location"}};
inline constexpr coset_type first_element = COSET_INT8;
static_assert(COSET_INT64_LOCATION - first_element + 1 == elements.size);

inline constexpr list<plus, multiplies, minimum, maximum, bit_and, bit_or, bit_xor, logical_and, logical_or,
                      logical_xor, minimum_location, maximum_location, reproducible_plus>
    operations{{"plus", "multiplies", "minimum", "maximum", "bit_and", "bit_or", "bit_xor", "logical_and", "logical_or",
                "logical_xor", "minimum_location", "maximum_location", "reproducible_plus"}};
inline constexpr coset_operation first_operation = COSET_PLUS;
static_assert(COSET_REPRODUCIBLE_PLUS - first_operation + 1 == operations.size);

}  // namespace coset::values
