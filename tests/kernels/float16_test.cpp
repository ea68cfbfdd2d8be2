// SPDX-License-Identifier: Apache-2.0
// 16-bit floats, exhaustively: every one of them, every tie between two, and their neighbours, by scalars and by the
// kernels of each instruction set, against conversions written down by the definition.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/reference.hpp"

namespace coset::kernels::test {
namespace {

/// What a 16-bit float is: so many bits of exponent and of significand.
template <class T>
struct layout;
template <>
struct layout<float16> {
  static constexpr int exponent_bits = 5, significand_bits = 10;
};
template <>
struct layout<bfloat16> {
  static constexpr int exponent_bits = 8, significand_bits = 7;
};

template <class T>
T of_bits(std::uint32_t bits) {
  T value;
  value.bits = static_cast<std::uint16_t>(bits);
  return value;
}

/// The value by the definition, in double; infinities and NaN too.
template <class T>
double value_of(std::uint32_t bits) {
  constexpr int significand_bits = layout<T>::significand_bits, exponents = 1 << layout<T>::exponent_bits;
  int const exponent = static_cast<int>(bits >> significand_bits) % exponents;
  int const fraction = static_cast<int>(bits % (1u << significand_bits));
  double const sign = (bits & 0x8000u) != 0 ? -1 : 1;
  if (exponent == exponents - 1) return fraction == 0 ? sign * HUGE_VAL : std::nan("");
  int const whole = exponent == 0 ? fraction : fraction + (1 << significand_bits);
  return sign * std::ldexp(whole, std::max(exponent, 1) - (exponents / 2 - 1) - significand_bits);
}

template <class T>
constexpr std::uint32_t infinity_bits = ((1u << layout<T>::exponent_bits) - 1) << layout<T>::significand_bits;

/// A float and the 16-bit float it must be rounded to.
struct rounding {
  float value;
  std::uint16_t bits;
};

/// For every finite number: itself, the tie above it (to even) and the neighbours of the tie, with both signs.
template <class T>
std::vector<rounding> all_roundings() {
  std::vector<rounding> all;
  for (std::uint32_t bits = 0; bits < infinity_bits<T>; ++bits) {
    // Beyond the largest number the tie is where the next would be.
    bool const last = bits + 1 == infinity_bits<T>;
    double const below = value_of<T>(bits);
    double const above = last ? 2 * below - value_of<T>(bits - 1) : value_of<T>(bits + 1);
    auto const tie = static_cast<float>((below + above) / 2);
    EXPECT_EQ(tie, (below + above) / 2);
    auto const lower = static_cast<std::uint16_t>(bits), upper = static_cast<std::uint16_t>(bits + 1);
    std::vector<rounding> const near{{static_cast<float>(below), lower},
                                     {std::nextafter(tie, 0.0f), lower},
                                     {tie, bits % 2 == 0 ? lower : upper},
                                     {std::nextafter(tie, HUGE_VALF), upper}};
    for (auto const& [value, to] : near) {
      all.push_back({value, to});
      all.push_back({-value, static_cast<std::uint16_t>(to | 0x8000u)});
    }
  }
  all.push_back({HUGE_VALF, static_cast<std::uint16_t>(infinity_bits<T>)});
  all.push_back({-HUGE_VALF, static_cast<std::uint16_t>(infinity_bits<T> | 0x8000u)});
  all.push_back({std::numeric_limits<float>::max(), static_cast<std::uint16_t>(infinity_bits<T>)});
  all.push_back({std::numeric_limits<float>::denorm_min(), 0});
  return all;
}

template <class T>
class Float16 : public testing::Test {
 protected:
  void TearDown() override { force_instruction_set(instruction_sets().front()); }
};
using both = testing::Types<float16, bfloat16>;
TYPED_TEST_SUITE(Float16, both);

TYPED_TEST(Float16, EveryOneIsTheFloatThatItsDefinitionSays) {
  for (std::uint32_t bits = 0; bits < 1u << 16; ++bits) {
    float const value = of_bits<TypeParam>(bits);
    double const expected = value_of<TypeParam>(bits);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(value)) << bits;
    } else {
      ASSERT_EQ(value, expected) << bits;
      ASSERT_EQ(std::signbit(value), std::signbit(expected)) << bits;
    }
  }
}

TYPED_TEST(Float16, FloatsAreRoundedToNearestEven) {
  for (auto const& [value, bits] : all_roundings<TypeParam>()) ASSERT_EQ(TypeParam(value).bits, bits) << value;
  for (float const nan : {std::nanf(""), -std::nanf(""), std::bit_cast<float>(0x7f800001u)})
    ASSERT_TRUE(std::isnan(static_cast<float>(TypeParam(nan))));
}

/// a ∘ b as partial results, which are floats, rounded to elements.
template <class T>
std::vector<T> rounded_by_kernel(std::vector<float> const& values) {
  std::vector<T> rounded(values.size());
  void const* const from[] = {values.data()};
  void* const to[] = {rounded.data()};
  detail::form const forms[] = {detail::form::partial, detail::form::element};
  auto const type = static_cast<element>(detail::built_in_element_of<T>);
  find_mixed(operation::plus, type)(to, 1, from, 1, forms, values.size());
  return rounded;
}

template <class T>
std::vector<float> widened_by_kernel(std::vector<T> const& values) {
  std::vector<float> widened(values.size());
  void const* const from[] = {values.data()};
  void* const to[] = {widened.data()};
  detail::form const forms[] = {detail::form::element, detail::form::partial};
  auto const type = static_cast<element>(detail::built_in_element_of<T>);
  find_mixed(operation::plus, type)(to, 1, from, 1, forms, values.size());
  return widened;
}

TYPED_TEST(Float16, KernelsOfEveryInstructionSetConvertLikeScalars) {
  auto const roundings = all_roundings<TypeParam>();
  std::vector<float> values;
  for (auto const& r : roundings) values.push_back(r.value);
  std::vector<TypeParam> every_one;
  for (std::uint32_t bits = 0; bits < 1u << 16; ++bits) every_one.push_back(of_bits<TypeParam>(bits));
  for (auto const& set : instruction_sets()) {
    force_instruction_set(set);
    auto const rounded = rounded_by_kernel<TypeParam>(values);
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(rounded[i].bits, roundings[i].bits) << set << ", " << values[i];
    auto const widened = widened_by_kernel(every_one);
    for (std::uint32_t bits = 0; bits < 1u << 16; ++bits) {
      auto const expected = static_cast<float>(every_one[bits]);
      ASSERT_TRUE(std::memcmp(&widened[bits], &expected, sizeof expected) == 0 ||
                  (std::isnan(expected) && std::isnan(widened[bits])))
          << set << ", " << bits;
    }
  }
}

TYPED_TEST(Float16, PartialsAreFloatsAndRoundedOnce) {
  // 1 + e + e, where 1 + e would be rounded back to 1 each time and 1 + 2e is the next number.
  float const next = value_of<TypeParam>(TypeParam(1.0f).bits + 1);
  std::vector<TypeParam> const one(37, TypeParam(1.0f)), half_a_step(37, TypeParam((next - 1) / 2));
  auto const type = static_cast<kernels::element>(detail::built_in_element_of<TypeParam>);
  for (auto const& set : instruction_sets()) {
    force_instruction_set(set);
    for (std::uint32_t const pairs : {1u, 2u, 5u, 12u}) {
      std::vector<void const*> from{one.data()};
      from.insert(from.end(), 2 * pairs, half_a_step.data());
      std::vector<TypeParam> sum(37);
      void* const to[] = {sum.data()};
      find(operation::plus, type).for_sources(1 + 2 * pairs)(nullptr, to, 1, from.data(), 1 + 2 * pairs, 37);
      for (auto const value : sum) ASSERT_EQ(value, 1 + static_cast<float>(pairs) * (next - 1)) << set << " " << pairs;
    }
  }
}

/// A fold in two stages by way of partial results is the fold in one.
TYPED_TEST(Float16, FoldsOfElementsAndPartialsAreThoseOfElementsAlone) {
  auto const type = static_cast<kernels::element>(detail::built_in_element_of<TypeParam>);
  std::mt19937_64 random(5);
  constexpr std::size_t count = 1037;
  std::vector<std::vector<TypeParam>> values(5, std::vector<TypeParam>(count));
  for (auto& source : values) {
    for (auto& value : source) value = random_value<TypeParam>(random);
  }
  using enum detail::form;
  for (auto const& set : instruction_sets()) {
    force_instruction_set(set);
    for (operation const op : {operation::plus, operation::multiplies}) {
      std::vector<float> partial(count);
      std::vector<TypeParam> result(count);
      void const* const first[] = {values[0].data(), values[1].data(), values[2].data()};
      void const* const second[] = {partial.data(), values[3].data(), values[4].data()};
      void* const into_partial[] = {partial.data()};
      void* const into_both[] = {result.data(), partial.data()};
      detail::form const first_forms[] = {element, element, element, detail::form::partial};
      detail::form const second_forms[] = {detail::form::partial, element, element, element, detail::form::partial};
      find_mixed(op, type)(into_partial, 1, first, 3, first_forms, count);
      find_mixed(op, type)(into_both, 2, second, 3, second_forms, count);
      auto const expected = fold(op, values, 5);
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_TRUE(same(op, result[i], expected[i])) << set << ", " << i;
        ASSERT_TRUE(same(op, TypeParam(partial[i]), expected[i])) << set << ", " << i;
      }
    }
  }
}

}  // namespace
}  // namespace coset::kernels::test
