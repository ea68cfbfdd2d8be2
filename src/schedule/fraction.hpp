// SPDX-License-Identifier: Apache-2.0
// Exact non-negative rationals: block boundaries and volumes are compared for equality, never within a tolerance.
#pragma once

#include <compare>
#include <cstdint>
#include <numeric>
#include <string>

namespace coset::schedule {

/// Always in lowest terms with a positive denominator, so that equality is member-wise.
class fraction {
 public:
  constexpr fraction() = default;
  constexpr fraction(std::int64_t whole) : numerator_(whole) {}  // NOLINT(google-explicit-constructor): a whole number is a fraction
  constexpr fraction(std::int64_t numerator, std::int64_t denominator)
      : numerator_(numerator / std::gcd(numerator, denominator)),
        denominator_(denominator / std::gcd(numerator, denominator)) {}

  constexpr std::int64_t numerator() const { return numerator_; }
  constexpr std::int64_t denominator() const { return denominator_; }

  friend constexpr fraction operator+(fraction a, fraction b) {
    return {a.numerator_ * b.denominator_ + b.numerator_ * a.denominator_, a.denominator_ * b.denominator_};
  }
  friend constexpr fraction operator-(fraction a, fraction b) {
    return {a.numerator_ * b.denominator_ - b.numerator_ * a.denominator_, a.denominator_ * b.denominator_};
  }
  friend constexpr fraction operator*(fraction a, fraction b) {
    return {a.numerator_ * b.numerator_, a.denominator_ * b.denominator_};
  }
  constexpr fraction& operator+=(fraction b) { return *this = *this + b; }

  friend constexpr bool operator==(fraction const&, fraction const&) = default;
  friend constexpr std::strong_ordering operator<=>(fraction a, fraction b) {
    return a.numerator_ * b.denominator_ <=> b.numerator_ * a.denominator_;
  }

  /// "3/7", or "2" where the denominator is 1.
  std::string text() const {
    return denominator_ == 1 ? std::to_string(numerator_)
                             : std::to_string(numerator_) + "/" + std::to_string(denominator_);
  }

 private:
  std::int64_t numerator_ = 0;
  std::int64_t denominator_ = 1;
};

}  // namespace coset::schedule
