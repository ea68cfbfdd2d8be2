// SPDX-License-Identifier: Apache-2.0
// Ways of updating floating-point numbers, and what is no number.
#include "updates/ways.hpp"

namespace coset::updates_test {
namespace {

template <class T>
class WaysOfReals : public Ways<T> {};
using reals = test::types<::testing::Types<float, double>, ::testing::Types<double>>;
TYPED_TEST_SUITE(WaysOfReals, reals);

TYPED_TEST(WaysOfReals, EqualThePlainLoopWithKnownOperations) {
  this->expect_plain_loops(plus());
  this->expect_plain_loops_of_others(minimum());
}
TYPED_TEST(WaysOfReals, EqualThePlainLoopWithUsersOperations) {
  this->expect_plain_loops(noncommutative(digits()));
  this->expect_plain_loops(exact(maximum()));
}

using WaysOfComplexNumbers = Ways<std::complex<double>>;
TEST_F(WaysOfComplexNumbers, EqualThePlainLoop) { expect_plain_loops(plus()); }

/// Their sums have the same bits in every order.
using WaysOfBinnedNumbers = Ways<binned<double>>;
TEST_F(WaysOfBinnedNumbers, EqualThePlainLoop) { expect_plain_loops(plus()); }

using WaysOfStructs = Ways<trail>;
TEST_F(WaysOfStructs, EqualThePlainLoop) {
  expect_plain_loops(follow());
  expect_plain_loops(noncommutative(follow()));
}

}  // namespace
}  // namespace coset::updates_test
