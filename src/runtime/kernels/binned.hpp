// SPDX-License-Identifier: Apache-2.0
// The arithmetic of binned sums that vectors and scalars share: all of it exact, so that they agree bit for bit.
#pragma once

#include <cstdint>

#include "coset/binned.hpp"

namespace coset::kernels {

inline constexpr int bin_bits = 32;

/// Values of binned_sum::top. A finite sum that is not zero has first_bin + (biased exponent of its largest summand) / 32.
enum binned_top : std::int32_t { of_nothing, of_negative_zeros, of_zeros, first_bin, not_finite = first_bin + 64 };

/// What binned_sum::units[0] holds if top is not_finite: what has been seen.
enum seen : std::int64_t { seen_infinity = 1, seen_negative_infinity = 2, seen_nan = 4 };

/// The units of a sum's bins, in units of the top one. A summand below a bin's unit has nothing in that bin: it may not
/// be rounded up into bins that it would not have if it were the largest.
inline constexpr double unit[] = {1, 0x1p-32, 0x1p-64};

/// Adding and subtracting one rounds a number below 2^33 units to whole units of a bin.
inline constexpr double round_to_unit[] = {0x1.8p52, 0x1.8p20, 0x1.8p-12};

/// 2^this scales numbers of `bin` to units of that bin, and is a normal number.
inline constexpr int exponent_to_units(int bin) { return 1023 - bin_bits * bin; }

}  // namespace coset::kernels
