// SPDX-License-Identifier: Apache-2.0
// Finite groups acting regularly on the ranks: rank and element are the same number. They need not commute.
#pragma once

#include <vector>

#include "coset/error.hpp"

namespace coset::schedule {

/// An element of a group, and the rank it stands for.
using element = rank_t;

/// A product of cyclic and semidirect factors; elements are mixed-radix numbers whose digit 0 varies fastest, and 0 is the
/// neutral element. What is written a + b is a·b: products are taken in this order. Rank x reaches its peers as x + d,
/// and schedules are the same for all ranks under y ↦ x + y. The ranks 0 … k−1 of the fastest digits are a subgroup, so
/// that k consecutive ranks are one of its cosets.
class group {
 public:
  /// Z_n1 × Z_n2 × …, which commutes.
  /// Throws schedule_error if a factor is 0 or the order does not fit into 32 bits. No factors: the trivial group.
  explicit group(std::vector<rank_t> const& factors);

  static group cyclic(rank_t order) { return group({order}); }
  /// Z_2 × … × Z_2: addition is XOR.
  static group binary(unsigned bits) { return group(std::vector<rank_t>(bits, 2)); }
  /// Z_normal ⋊ Z_acting: digit 0, of `acting` values, multiplies digit 1 by powers of `unit`.
  /// Throws schedule_error unless unit^acting = 1 modulo `normal`.
  static group semidirect(rank_t acting, rank_t normal, rank_t unit);
  /// a + b is a + b modulo the order for even a, and a − b for odd a: rotations are even, reflections are odd and their
  /// own inverses. Source: the exchanges of Swing, De Sensi et al., NSDI 2024.
  /// Throws schedule_error if the order is odd.
  static group dihedral(rank_t order);
  /// Digits of `fast`, then those of `slow`.
  static group product(group const& fast, group const& slow);

  rank_t order() const { return order_; }
  /// The sizes of the digits.
  std::vector<rank_t> factors() const;
  bool commutes() const;

  element add(element a, element b) const;
  element negate(element a) const;
  element subtract(element a, element b) const { return add(a, negate(b)); }

 private:
  struct digit {
    rank_t size;
    std::vector<rank_t> units;  ///< by the next faster digit, which multiplies this one; none: nothing does
  };

  void append(digit);

  std::vector<digit> digits_;
  rank_t order_ = 1;
};

}  // namespace coset::schedule
