// SPDX-License-Identifier: Apache-2.0
// Finite abelian groups acting regularly on the ranks: rank and element are the same number.
#pragma once

#include <vector>

#include "coset/error.hpp"

namespace coset::schedule {

/// An element of a group, and the rank it stands for.
using element = rank_t;

/// A product of cyclic groups Z_n1 × Z_n2 × …; elements are mixed-radix numbers whose digit 0 varies fastest.
class group {
 public:
  /// Throws schedule_error if a factor is 0 or the order does not fit into 32 bits. No factors: the trivial group.
  explicit group(std::vector<rank_t> factors);

  static group cyclic(rank_t order) { return group({order}); }
  /// Z_2 × … × Z_2: addition is XOR.
  static group binary(unsigned bits) { return group(std::vector<rank_t>(bits, 2)); }

  rank_t order() const { return order_; }
  std::vector<rank_t> const& factors() const { return factors_; }

  element add(element a, element b) const;
  element negate(element a) const;
  element subtract(element a, element b) const { return add(a, negate(b)); }

 private:
  std::vector<rank_t> factors_;
  rank_t order_ = 1;
};

}  // namespace coset::schedule
