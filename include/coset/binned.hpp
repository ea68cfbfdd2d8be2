// SPDX-License-Identifier: Apache-2.0
// Sums whose bits do not depend on the order of the summands.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "coset/detail/visibility.h"

namespace coset::inline COSET_ABI {

namespace detail {

/// Exponents are cut into bins of 32. A sum keeps three bins: that of its largest summand and the two below. Each bin
/// is a whole number of its unit, 2^(32·bin − 1023). How a summand is rounded into the bins depends on that summand
/// only, and whole numbers add up to the same value in any order. Everything below the three bins is dropped, also from
/// earlier summands.
struct binned_sum {
  std::array<std::int64_t, 3> units = {};
  std::array<std::int32_t, 3> carries = {};  ///< of 2^61 units each
  std::int32_t top = 0;                      ///< the largest summand's bin; numbering as in binned_top
};

COSET_API void add(binned_sum&, std::span<float const>);
COSET_API void add(binned_sum&, std::span<double const>);
COSET_API void add(binned_sum&, binned_sum const&);
/// Rounded once, to nearest even.
template <class T>
COSET_API T rounded(binned_sum const&);
extern template float rounded<float>(binned_sum const&);
extern template double rounded<double>(binned_sum const&);

}  // namespace detail

/// A sum of up to 2^59 values: the bits are the same in whatever order and grouping the values are added.
///
/// The value is the sum of all summands, each without its bits more than 64 below the largest summand, rounded once.
/// Infinities, NaN and zeros of one sign give the result of plain summation. A binned sum is an element: add up
/// locally, allreduce with plus, take value(). Two sums of equal value may differ as bytes, so plans whose ranks
/// bracket differently serve binned sums only on request (bits::per_rank). It expects the processor to round to nearest
/// and does not change the rounding mode.
/// Cost: 40 bytes; some 15 ns per value added alone, 3 ns per value of an array.
/// Source: binned summation, Demmel, Ahrens and Nguyen, "Efficient Reproducible Floating Point Summation and BLAS",
/// here with integers for the bins.
template <class T>
requires std::same_as<T, float> || std::same_as<T, double>
class binned {
 public:
  binned() = default;  ///< the empty sum; its value is 0
  explicit binned(T value) { *this += value; }

  binned& operator+=(T value) { return *this += std::span<T const>(&value, 1); }
  binned& operator+=(std::span<T const> values) {
    detail::add(sum_, values);
    return *this;
  }
  binned& operator+=(binned const& other) {
    detail::add(sum_, other.sum_);
    return *this;
  }
  friend binned operator+(binned a, binned const& b) { return a += b; }

  T value() const { return detail::rounded<T>(sum_); }

 private:
  detail::binned_sum sum_;
};

}  // namespace coset
