// SPDX-License-Identifier: Apache-2.0
// Digit-wise arithmetic of products of cyclic groups.
#include "schedule/groups/group.hpp"

#include <cstdint>
#include <utility>

namespace coset::schedule {

group::group(std::vector<rank_t> factors) : factors_(std::move(factors)) {
  for (rank_t const n : factors_) {
    if (n == 0 || order_ > UINT32_MAX / n)
      throw schedule_error("a group's factors must be positive and its order must fit into 32 bits");
    order_ *= n;
  }
}

element group::add(element a, element b) const {
  element sum = 0;
  rank_t stride = 1;
  for (rank_t const n : factors_) {
    rank_t const digit_a = a % n, digit_b = b % n;
    sum += stride * (digit_a < n - digit_b ? digit_a + digit_b : digit_a - (n - digit_b));
    stride *= n;
    a /= n;
    b /= n;
  }
  return sum;
}

element group::negate(element a) const {
  element result = 0;
  rank_t stride = 1;
  for (rank_t const n : factors_) {
    result += stride * ((n - a % n) % n);
    stride *= n;
    a /= n;
  }
  return result;
}

}  // namespace coset::schedule
