// SPDX-License-Identifier: Apache-2.0
// Ways of updating integers.
#include "updates/ways.hpp"

namespace coset::updates_test {
namespace {

template <class T>
class WaysOfIntegers : public Ways<T> {};
using integers = ::testing::Types<std::int32_t, std::uint64_t>;
TYPED_TEST_SUITE(WaysOfIntegers, integers);

TYPED_TEST(WaysOfIntegers, EqualThePlainLoopWithKnownOperations) {
  this->expect_known_operations();
  this->expect_orders();
}
TYPED_TEST(WaysOfIntegers, EqualThePlainLoopWithBitwiseOperations) {
  this->expect_plain_loops(bit_and());
  this->expect_plain_loops(bit_or());
  this->expect_plain_loops(bit_xor());
}
TYPED_TEST(WaysOfIntegers, EqualThePlainLoopWithUsersOperations) { this->expect_users_operations(); }

/// Of these an atomic operation is not to be had for all.
template <class T>
class WaysOfOtherIntegers : public Ways<T> {};
using other_integers = ::testing::Types<std::int8_t, std::int16_t, std::int64_t, std::uint8_t, std::uint32_t>;
TYPED_TEST_SUITE(WaysOfOtherIntegers, other_integers);

TYPED_TEST(WaysOfOtherIntegers, EqualThePlainLoop) {
  this->expect_plain_loops(plus());
  this->expect_plain_loops(maximum());
  this->expect_plain_loops(noncommutative(digits()));
}

}  // namespace
}  // namespace coset::updates_test
