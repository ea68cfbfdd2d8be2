// SPDX-License-Identifier: Apache-2.0
// Digit-wise arithmetic of products of cyclic and semidirect groups.
#include "planning/schedule/groups/group.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace coset::schedule {
namespace {

rank_t product_modulo(rank_t a, rank_t b, rank_t n) { return static_cast<rank_t>(std::uint64_t{a} * b % n); }

/// unit^0 … unit^(count − 1), if unit^count is 1.
std::vector<rank_t> powers(rank_t unit, rank_t count, rank_t n) {
  std::vector<rank_t> all;
  rank_t power = 1 % n;
  for (rank_t k = 0; k < count; ++k) {
    all.push_back(power);
    power = product_modulo(power, unit, n);
  }
  if (power == 1 % n) return all;
  throw schedule_error("no group: " + std::to_string(unit) + " to the power of " + std::to_string(count) + " is " +
                       std::to_string(power) + " modulo " + std::to_string(n) + ", not 1");
}

}  // namespace

group::group(std::vector<rank_t> const& factors) {
  for (rank_t const n : factors) append({n, {}});
}

group group::semidirect(rank_t acting, rank_t normal, rank_t unit) {
  group made({acting});
  if (normal == 0) return group({0});  // refused
  made.append({normal, powers(unit % normal, acting, normal)});
  return made;
}

group group::dihedral(rank_t order) {
  if (order % 2 != 0 || order == 0)
    throw schedule_error("a dihedral group acts on an even number of ranks, not on " + std::to_string(order) +
                         ": half of its elements are reflections; a cyclic group acts on any number");
  return semidirect(2, order / 2, order / 2 - 1);
}

group group::product(group const& fast, group const& slow) {
  group made = fast;
  for (digit const& d : slow.digits_) made.append(d);
  return made;
}

void group::append(digit d) {
  if (d.size == 0 || order_ > UINT32_MAX / d.size)
    throw schedule_error("a group's factors must be positive and its order must fit into 32 bits");
  order_ *= d.size;
  digits_.push_back(std::move(d));
}

std::vector<rank_t> group::factors() const {
  std::vector<rank_t> sizes;
  for (digit const& d : digits_) sizes.push_back(d.size);
  return sizes;
}

bool group::commutes() const {
  return std::ranges::all_of(digits_, [](digit const& d) {
    return std::ranges::all_of(d.units, [&](rank_t unit) { return unit == 1 % d.size; });
  });
}

element group::add(element a, element b) const {
  element sum = 0;
  rank_t stride = 1, faster = 0;  // a's digit before this one
  for (digit const& d : digits_) {
    rank_t const n = d.size, digit_a = a % n;
    rank_t const digit_b = d.units.empty() ? b % n : product_modulo(d.units[faster], b % n, n);
    sum += stride * (digit_a < n - digit_b ? digit_a + digit_b : digit_a - (n - digit_b));
    stride *= n;
    a /= n;
    b /= n;
    faster = digit_a;
  }
  return sum;
}

element group::negate(element a) const {
  element result = 0;
  rank_t stride = 1, faster = 0;  // the result's digit before this one
  for (digit const& d : digits_) {
    rank_t const n = d.size, opposite = (n - a % n) % n;
    rank_t const negated = d.units.empty() ? opposite : product_modulo(d.units[faster], opposite, n);
    result += stride * negated;
    stride *= n;
    a /= n;
    faster = negated;
  }
  return result;
}

}  // namespace coset::schedule
