// SPDX-License-Identifier: Apache-2.0
// Ways of updating integers.
#include "updates/ways.hpp"

namespace coset::updates_test {
namespace {

/// Each operation is compiled for one type, and each type with three operations: all pairs take minutes to compile.
using WaysOfIntegers = Ways<std::int32_t>;

TEST_F(WaysOfIntegers, EqualThePlainLoopWithKnownOperations) {
  expect_plain_loops(plus());
  expect_plain_loops_of_others(multiplies(), minimum(), maximum());
}
TEST_F(WaysOfIntegers, EqualThePlainLoopWithBitwiseOperations) {
  expect_plain_loops_of_others(bit_and(), bit_or());
  expect_plain_loops(bit_xor());
}
TEST_F(WaysOfIntegers, EqualThePlainLoopWithUsersOperations) {
  expect_plain_loops(circle());
  expect_plain_loops(circle(), [](std::vector<std::int32_t>& array) { return into(array, circle(), 0); });
  expect_plain_loops(noncommutative(digits()));
}

/// Of these an atomic operation is not to be had for all.
template <class T>
class WaysOfOtherIntegers : public Ways<T> {};
using other_integers =
    test::types<::testing::Types<std::int8_t, std::int16_t, std::int64_t, std::uint8_t, std::uint32_t, std::uint64_t>,
                ::testing::Types<std::int8_t, std::int64_t>>;
TYPED_TEST_SUITE(WaysOfOtherIntegers, other_integers);

TYPED_TEST(WaysOfOtherIntegers, EqualThePlainLoop) {
  this->expect_plain_loops(plus());
  this->expect_plain_loops_of_others(maximum());
  this->expect_plain_loops(noncommutative(digits()));
}

}  // namespace
}  // namespace coset::updates_test
