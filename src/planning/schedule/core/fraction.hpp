// SPDX-License-Identifier: Apache-2.0
// Exact rationals: block boundaries and volumes are compared for equality, never within a tolerance.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <string>

#include "coset/error.hpp"

namespace coset::schedule {

/// Always in lowest terms with a positive denominator, so that equality is member-wise.
/// Products of two 64-bit numbers are taken in 128 bits; a result that does not fit in lowest terms throws schedule_error.
class fraction {
 public:
  constexpr fraction() = default;
  constexpr fraction(std::int64_t whole)
      : numerator_(whole) {}  // NOLINT(google-explicit-constructor): a whole number is a fraction
  constexpr fraction(std::int64_t numerator, std::int64_t denominator) : fraction(reduce(numerator, denominator)) {}

  constexpr std::int64_t numerator() const { return numerator_; }
  constexpr std::int64_t denominator() const { return denominator_; }

  friend constexpr fraction operator+(fraction a, fraction b) {
    return reduce(a.wide_numerator() * b.denominator_ + b.wide_numerator() * a.denominator_,
                  a.wide_denominator() * b.denominator_);
  }
  friend constexpr fraction operator-(fraction a, fraction b) {
    return reduce(a.wide_numerator() * b.denominator_ - b.wide_numerator() * a.denominator_,
                  a.wide_denominator() * b.denominator_);
  }
  friend constexpr fraction operator*(fraction a, fraction b) {
    return reduce(a.wide_numerator() * b.numerator_, a.wide_denominator() * b.denominator_);
  }
  constexpr fraction& operator+=(fraction b) { return *this = *this + b; }

  friend constexpr bool operator==(fraction const&, fraction const&) = default;
  friend constexpr std::strong_ordering operator<=>(fraction a, fraction b) {
    wide const left = a.wide_numerator() * b.denominator_;
    wide const right = b.wide_numerator() * a.denominator_;
    return left < right   ? std::strong_ordering::less
           : left > right ? std::strong_ordering::greater
                          : std::strong_ordering::equal;
  }

  /// The largest whole number that is not above a non-negative fraction.
  constexpr std::int64_t floor() const { return numerator_ / denominator_; }
  constexpr double value() const { return static_cast<double>(numerator_) / static_cast<double>(denominator_); }

  /// "3/7", or "2" where the denominator is 1.
  std::string text() const {
    return denominator_ == 1 ? std::to_string(numerator_)
                             : std::to_string(numerator_) + "/" + std::to_string(denominator_);
  }

 private:
  __extension__ using wide = __int128;  // both compilers have it; -Wpedantic wants it marked

  constexpr wide wide_numerator() const { return numerator_; }
  constexpr wide wide_denominator() const { return denominator_; }

  static constexpr fraction reduce(wide numerator, wide denominator) {
    if (denominator == 0) throw schedule_error("a fraction has the denominator 0");
    wide a = denominator < 0 ? -denominator : denominator;
    for (wide b = numerator < 0 ? -numerator : numerator; b != 0;) {
      wide const rest = a % b;
      a = b;
      b = rest;
    }
    wide const divisor = denominator < 0 ? -a : a;
    numerator /= divisor;
    denominator /= divisor;
    constexpr wide limit = std::numeric_limits<std::int64_t>::max();
    if (numerator > limit || numerator < -limit || denominator > limit)
      throw schedule_error("a fraction does not fit into 64 bits: the block boundaries are too fine");
    fraction result;
    result.numerator_ = static_cast<std::int64_t>(numerator);
    result.denominator_ = static_cast<std::int64_t>(denominator);
    return result;
  }

  std::int64_t numerator_ = 0;
  std::int64_t denominator_ = 1;
};

}  // namespace coset::schedule
