// SPDX-License-Identifier: Apache-2.0
// What minimum and maximum make of NaNs, infinities and signed zeros, and integers of overflow, written out as bits.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "runtime/kernels/kernels.hpp"

namespace coset::kernels::test {
namespace {

class SpecialValues : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { force_instruction_set(GetParam()); }
  void TearDown() override { force_instruction_set(instruction_sets().front()); }

  /// a ∘ b in every lane of 19 elements, which takes every width of vector.
  template <class T>
  static T fold(operation op, element type, T a, T b) {
    std::array<T, 19> first, second, folded;
    first.fill(a);
    second.fill(b);
    void const* const from[] = {first.data(), second.data()};
    void* const to[] = {folded.data()};
    find(op, type).of[2](nullptr, to, 1, from, 2, folded.size());
    for (T const value : folded) EXPECT_EQ(std::memcmp(&value, &folded[0], sizeof(T)), 0);
    return folded[0];
  }
  static std::uint32_t bits(operation op, float a, float b) {
    return std::bit_cast<std::uint32_t>(fold(op, element::float32, a, b));
  }
  static std::uint64_t bits(operation op, double a, double b) {
    return std::bit_cast<std::uint64_t>(fold(op, element::float64, a, b));
  }
};

constexpr std::uint32_t canonical_float = 0x7fc00000u;
constexpr std::uint64_t canonical_double = 0x7ff8000000000000u;

TEST_P(SpecialValues, EveryNaNBecomesTheCanonicalOne) {
  float const others[] = {std::bit_cast<float>(0xffc00000u), std::bit_cast<float>(0x7fc12345u),
                          std::bit_cast<float>(0x7f800001u), std::bit_cast<float>(0xffffffffu)};
  float const partners[] = {0.0f, -0.0f, 1.0f, -std::numeric_limits<float>::infinity(), others[0], others[2]};
  for (operation const op : {operation::minimum, operation::maximum}) {
    for (float const nan : others) {
      for (float const partner : partners) {
        EXPECT_EQ(bits(op, nan, partner), canonical_float);
        EXPECT_EQ(bits(op, partner, nan), canonical_float);
      }
    }
    double const nan = std::bit_cast<double>(0xfff0000000000001u);
    EXPECT_EQ(bits(op, nan, 1.0), canonical_double);
    EXPECT_EQ(bits(op, -1.0, nan), canonical_double);
  }
}

TEST_P(SpecialValues, MinusZeroIsLessThanPlusZero) {
  EXPECT_EQ(bits(operation::minimum, -0.0f, 0.0f), 0x80000000u);
  EXPECT_EQ(bits(operation::minimum, 0.0f, -0.0f), 0x80000000u);
  EXPECT_EQ(bits(operation::maximum, -0.0f, 0.0f), 0u);
  EXPECT_EQ(bits(operation::maximum, 0.0f, -0.0f), 0u);
  EXPECT_EQ(bits(operation::minimum, 0.0, -0.0), 0x8000000000000000u);
  EXPECT_EQ(bits(operation::maximum, -0.0, 0.0), 0u);
}

TEST_P(SpecialValues, IntegersWrap) {
  constexpr auto most32 = std::numeric_limits<std::int32_t>::max();
  constexpr auto most64 = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(fold(operation::plus, element::int32, most32, 1), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(fold(operation::plus, element::int64, most64, std::int64_t(1)), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(fold(operation::multiplies, element::int32, most32, most32), 1);
  EXPECT_EQ(fold(operation::multiplies, element::int64, most64, most64), 1);
}

TEST_P(SpecialValues, OneSourceIsCopiedAsItIs) {
  float const signalling = std::bit_cast<float>(0x7f800001u);
  for (operation const op : {operation::plus, operation::multiplies, operation::minimum, operation::maximum}) {
    float copied = 0;
    void const* const from[] = {&signalling};
    void* const to[] = {&copied};
    find(op, element::float32).of[1](nullptr, to, 1, from, 1, 1);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(copied), 0x7f800001u);
  }
}

INSTANTIATE_TEST_SUITE_P(AllInstructionSets, SpecialValues, testing::ValuesIn(instruction_sets()),
                         [](auto const& test) { return test.param; });

}  // namespace
}  // namespace coset::kernels::test
