// SPDX-License-Identifier: Apache-2.0
// Binned sums: the same bits in any order and grouping, rounded once, and special values as plain summation gives them.
#include "coset/binned.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace coset::kernels::test {
namespace {

template <class T>
using bits_of = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T>
auto bits(T value) {
  return std::bit_cast<bits_of<T>>(value);
}

/// Plain sums are NaN with either sign and any payload; binned ones with one.
template <class T>
auto canonical(T value) {
  return bits(value != value ? std::numeric_limits<T>::quiet_NaN() : value);
}

template <class T>
T sum_of(std::vector<T> const& values) {
  binned<T> sum;
  for (T const value : values) sum += value;
  return sum.value();
}

/// The same sum by groups of random sizes, some added value by value and some as arrays, and groups of those.
template <class T>
T sum_by_groups(std::vector<T> const& values, std::mt19937_64& random) {
  std::vector<binned<T>> groups(1 + random() % 9);
  for (std::size_t i = 0; i < values.size();) {
    auto const length = std::min<std::size_t>(random() % 50, values.size() - i);
    auto& group = groups[random() % groups.size()];
    group += std::span(values).subspan(i, length);
    i += length;
  }
  std::shuffle(groups.begin(), groups.end(), random);
  binned<T> all;
  for (auto const& group : groups) all += group;
  return all.value();
}

/// Exponents from everywhere, or from so near that values cancel; now and then zeros and subnormals.
template <class T>
std::vector<T> random_values(std::mt19937_64& random) {
  std::vector<T> values(1 + random() % 300);
  int const spread = std::array{0, 3, 40, 2 * std::numeric_limits<T>::max_exponent}[random() % 4];
  int const base = static_cast<int>(random() % 100) - 50;
  for (std::size_t i = 0; i < values.size(); ++i) {
    int const exponent = spread == 0 ? 0 : static_cast<int>(random() % static_cast<unsigned>(spread)) - spread / 2;
    auto const fraction = std::uniform_real_distribution<double>(-1, 1)(random);
    values[i] = static_cast<T>(std::ldexp(fraction, exponent + (spread < 100 ? base : 0)));
    if (!std::isfinite(values[i])) values[i] = 1;
    if (random() % 50 == 0) values[i] = std::array{T(0), -T(0), std::numeric_limits<T>::denorm_min()}[random() % 3];
    if (i > 0 && random() % 4 == 0) values[i] = -values[random() % i];
  }
  return values;
}

template <class T>
class Binned : public testing::Test {};
using both = testing::Types<float, double>;
TYPED_TEST_SUITE(Binned, both);

TYPED_TEST(Binned, SumsHaveTheSameBitsInAnyOrderAndGrouping) {
  std::mt19937_64 random(1);
  for (int array = 0; array < 1000; ++array) {
    auto values = random_values<TypeParam>(random);
    auto const expected = bits(sum_of(values));
    for (int order = 0; order < 5; ++order) {
      std::shuffle(values.begin(), values.end(), random);
      ASSERT_EQ(bits(sum_of(values)), expected) << "array " << array;
      ASSERT_EQ(bits(sum_by_groups(values, random)), expected) << "array " << array;
    }
  }
}

TYPED_TEST(Binned, OneValueIsItself) {
  using limits = std::numeric_limits<TypeParam>;
  std::mt19937_64 random(2);
  for (TypeParam const value :
       {TypeParam(0), -TypeParam(0), TypeParam(1), limits::min(), limits::denorm_min(), limits::max(), limits::lowest(),
        -limits::denorm_min(), limits::infinity(), -limits::infinity()})
    EXPECT_EQ(bits(binned<TypeParam>(value).value()), bits(value)) << value;
  for (int k = 0; k < 10'000; ++k) {
    auto const value = std::bit_cast<TypeParam>(static_cast<bits_of<TypeParam>>(random()));
    ASSERT_EQ(bits(binned<TypeParam>(value).value()), canonical(value)) << value;
  }
}

/// Whole numbers of one unit whose sum fits 126 bits: what the result must be is known exactly.
TYPED_TEST(Binned, WhatIsWithinTheWindowIsRoundedOnce) {
  __extension__ using wide = __int128;
  std::mt19937_64 random(3);
  for (int array = 0; array < 1000; ++array) {
    int const unit = static_cast<int>(random() % 80) - 40, digits = std::numeric_limits<TypeParam>::digits;
    binned<TypeParam> sum;
    wide exact = 0;
    double plain = 0;
    for (std::size_t k = 0, n = 1 + random() % 40; k < n; ++k) {
      auto const whole = static_cast<std::int64_t>(random()) >> (64 - digits);
      int const up = static_cast<int>(random() % (60 - static_cast<unsigned>(digits)));
      exact += wide{whole} << up;
      sum += std::ldexp(static_cast<TypeParam>(whole), up + unit);
      plain += std::ldexp(static_cast<double>(whole), up + unit);
    }
    ASSERT_EQ(sum.value(), std::ldexp(static_cast<TypeParam>(exact), unit))
        << "array " << array << ", plainly " << plain;
  }
}

TYPED_TEST(Binned, ErrorsAreNoLargerThanPlainSummations) {
  std::mt19937_64 random(4);
  for (int array = 0; array < 1000; ++array) {
    std::vector<TypeParam> values(2 + random() % 1000);
    for (auto& value : values) value = static_cast<TypeParam>(std::uniform_real_distribution<double>(-1, 1)(random));
    long double exact = 0;
    TypeParam plain = 0;
    for (auto const value : values) exact += value, plain += value;
    auto const of = [&](TypeParam sum) { return std::abs(static_cast<long double>(sum) - exact); };
    // The reference is a long double, no more exact than that.
    ASSERT_LE(of(sum_of(values)), of(plain) + 1000 * std::numeric_limits<long double>::epsilon()) << "array " << array;
  }
}

TYPED_TEST(Binned, ManyMoreThanOneRunOfValuesDoNotOverflow) {
  std::vector<TypeParam> const large(1 << 16, std::numeric_limits<TypeParam>::max() / 0x1p40f);
  binned<TypeParam> sum;
  for (int k = 0; k < 20; ++k) sum += std::span(large);
  for (int k = 0; k < 30; ++k) sum += binned<TypeParam>(sum);  // times 2^30
  EXPECT_EQ(sum.value(), std::numeric_limits<TypeParam>::infinity());
  binned<TypeParam> ones;
  std::vector<TypeParam> const thousand(1000, TypeParam(1));
  ones += std::span(thousand);
  for (int k = 0; k < 49; ++k) ones += binned<TypeParam>(ones);
  EXPECT_EQ(ones.value(), std::ldexp(TypeParam(1000), 49));
}

TYPED_TEST(Binned, InfinitiesNaNAndZerosAreThoseOfPlainSummation) {
  using limits = std::numeric_limits<TypeParam>;
  TypeParam const infinity = limits::infinity(), nan = limits::quiet_NaN(), zero = 0, one = 1;
  std::vector<std::vector<TypeParam>> const cases{{infinity, one},
                                                  {-infinity, one, infinity},
                                                  {nan, infinity},
                                                  {zero, -zero},
                                                  {-zero, -zero},
                                                  {-zero},
                                                  {one, -one},
                                                  {-zero, one, -one},
                                                  {limits::max(), limits::max()},
                                                  {infinity, -infinity},
                                                  {limits::max(), -infinity},
                                                  {-zero, -zero, zero}};
  for (auto values : cases) {
    TypeParam plain = values[0];
    for (std::size_t i = 1; i < values.size(); ++i) plain += values[i];
    EXPECT_EQ(bits(sum_of(values)), canonical(plain)) << testing::PrintToString(values);
    std::reverse(values.begin(), values.end());
    EXPECT_EQ(bits(sum_of(values)), canonical(plain)) << testing::PrintToString(values);
  }
  EXPECT_EQ(bits(binned<TypeParam>().value()), bits(zero));
}

}  // namespace
}  // namespace coset::kernels::test
