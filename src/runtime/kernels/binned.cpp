// SPDX-License-Identifier: Apache-2.0
// Binned sums, one at a time.
#include "runtime/kernels/binned.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace coset::kernels {
namespace {

using detail::binned_sum;

__extension__ using wide_integer = __int128;

constexpr std::size_t bins = 3;
constexpr std::int64_t carry_units = std::int64_t{1} << 61;
/// So many slices of a bin fit beside a full bin.
constexpr std::size_t longest_run = std::size_t{1} << 20;

constexpr int exponent_of(double value) { return static_cast<int>(std::bit_cast<std::uint64_t>(value) >> 52 & 0x7ff); }

std::int32_t top_of(double value) {
  if (value == 0) return std::signbit(value) ? of_negative_zeros : of_zeros;
  int const exponent = exponent_of(value);
  return exponent == 0x7ff ? not_finite : first_bin + exponent / bin_bits;
}

double power_of_two(int exponent) { return std::bit_cast<double>(std::uint64_t(exponent + 1023) << 52); }

/// Units in [−2^60, 2^60), so that additions have room.
void normalise(binned_sum& sum) {
  for (std::size_t k = 0; k < bins; ++k) {
    std::int64_t const carry = (sum.units[k] + carry_units / 2) >> 61;
    sum.units[k] -= carry * carry_units;
    sum.carries[k] += static_cast<std::int32_t>(carry);
  }
}

/// A larger summand has come: the bins below its window are dropped.
void raise(binned_sum& sum, std::int32_t top) {
  bool const was_finite = sum.top >= first_bin && sum.top < not_finite && top < not_finite;
  std::size_t const by = was_finite ? std::min(static_cast<std::size_t>(top - sum.top), bins) : bins;
  for (std::size_t k = bins; k-- > 0;) {
    sum.units[k] = k >= by ? sum.units[k - by] : 0;
    sum.carries[k] = k >= by ? sum.carries[k - by] : 0;
  }
  sum.top = top;
}

std::int64_t seen_in(double value) {
  return std::isnan(value) ? seen_nan : value > 0 ? seen_infinity : seen_negative_infinity;
}

/// Values that fit below the sum's top, at most longest_run of them.
template <class T>
void add_slices(binned_sum& sum, std::span<T const> values) {
  double const to_units = power_of_two(exponent_to_units(sum.top - first_bin));
  double slices[bins] = {};  // exact: at most 2^33 each, in steps of 1, 2^-32 and 2^-64
  for (T const value : values) {
    double const scaled = double{value} * to_units;
    double rest = scaled;
    for (std::size_t k = 0; k < bins; ++k) {
      double const slice = std::abs(scaled) < unit[k] ? 0 : (rest + round_to_unit[k]) - round_to_unit[k];
      slices[k] += slice;
      rest -= slice;
    }
  }
  for (std::size_t k = 0; k < bins; ++k)
    sum.units[k] += static_cast<std::int64_t>(std::ldexp(slices[k], bin_bits * static_cast<int>(k)));
}

template <class T>
void add_run(binned_sum& sum, std::span<T const> values) {
  std::int32_t top = sum.top;
  for (T const value : values) top = std::max(top, top_of(value));
  if (top > sum.top) raise(sum, top);
  if (top == not_finite) {
    for (T const value : values) sum.units[0] |= std::isfinite(value) ? 0 : seen_in(value);
  } else if (top >= first_bin) {
    add_slices(sum, values);
    normalise(sum);
  }
}

template <class T>
void add_all(binned_sum& sum, std::span<T const> values) {
  while (!values.empty()) {
    std::size_t const now = std::min(values.size(), longest_run);
    add_run(sum, values.first(now));
    values = values.subspan(now);
  }
}

template <class T>
T rounded_special(binned_sum const& sum) {
  if (sum.top != not_finite) return sum.top == of_negative_zeros ? T(-0.0) : T(0);
  bool const both =
      (sum.units[0] & (seen_infinity | seen_negative_infinity)) == (seen_infinity | seen_negative_infinity);
  if (both || (sum.units[0] & seen_nan) != 0) return std::numeric_limits<T>::quiet_NaN();
  T const infinity = std::numeric_limits<T>::infinity();
  return (sum.units[0] & seen_infinity) != 0 ? infinity : -infinity;
}

}  // namespace
}  // namespace coset::kernels

namespace coset::inline COSET_ABI::detail {

using namespace kernels;

void add(binned_sum& sum, std::span<float const> values) { add_all(sum, values); }
void add(binned_sum& sum, std::span<double const> values) { add_all(sum, values); }

void add(binned_sum& sum, binned_sum const& other) {
  binned_sum lower = other;
  if (lower.top > sum.top) std::swap(sum, lower);
  if (lower.top < first_bin) return;
  if (sum.top == not_finite) {
    if (lower.top == not_finite) sum.units[0] |= lower.units[0];
    return;
  }
  raise(lower, sum.top);
  for (std::size_t k = 0; k < bins; ++k) {
    sum.units[k] += lower.units[k];
    sum.carries[k] += lower.carries[k];
  }
  normalise(sum);
}

template <class T>
T rounded(binned_sum const& sum) {
  if (sum.top < first_bin || sum.top == not_finite) return rounded_special<T>(sum);
  // Digits of 32 bits, the lower two not negative; what remains above them may have any size.
  wide_integer above = 0;
  std::uint64_t digits[2];
  for (std::size_t k = bins; k-- > 0;) {
    above += wide_integer{sum.units[k]} + wide_integer{sum.carries[k]} * carry_units;
    if (k == 0) break;
    digits[k - 1] = static_cast<std::uint32_t>(above);
    above >>= bin_bits;
  }
  int exponent = -exponent_to_units(sum.top - first_bin);
  std::uint64_t const below = digits[0] << 32 | digits[1];
  constexpr wide_integer wide = wide_integer{1} << 61;
  if (above < wide && above >= -wide) {
    above = above * (wide_integer{1} << 64) + below;
    exponent -= 64;
  } else {
    above |= below != 0;  // far below the last digit of the result: only whether there is something matters
  }
  return std::ldexp(static_cast<T>(above), exponent);
}

template float rounded<float>(binned_sum const&);
template double rounded<double>(binned_sum const&);

}  // namespace coset::detail
