// SPDX-License-Identifier: Apache-2.0
// Groups for tests: all kinds that there are, of small order, and random ones.
#pragma once

#include <random>
#include <vector>

#include "planning/schedule/groups/group.hpp"

namespace coset::schedule::testing {

/// Z_normal ⋊ Z_acting for each unit that makes one.
inline void append_semidirect(rank_t acting, rank_t normal, std::vector<group>& to) {
  for (rank_t unit = 1; unit < normal; ++unit) {
    std::uint64_t power = 1;
    for (rank_t k = 0; k < acting; ++k) power = power * unit % normal;
    if (power == 1) to.push_back(group::semidirect(acting, normal, unit));
  }
}

/// Dihedral and semidirect groups to an order, and products of some with others.
inline std::vector<group> groups_in_one_order(rank_t largest) {
  std::vector<group> all;
  for (rank_t order = 2; order <= largest; order += 2) all.push_back(group::dihedral(order));
  for (rank_t acting = 2; acting <= 6; ++acting)
    for (rank_t normal = 2; acting * normal <= largest; ++normal) append_semidirect(acting, normal, all);
  std::size_t const single = all.size();
  for (std::size_t i = 0; i < single; i += 3)
    for (group const& other : {group::cyclic(2), group::cyclic(3), group::dihedral(6), group::semidirect(3, 7, 2)}) {
      if (all[i].order() * other.order() > largest) continue;
      all.push_back(group::product(all[i], other));
      all.push_back(group::product(other, all[i]));
    }
  return all;
}

using generator = std::mt19937_64;

inline rank_t below(generator& random, rank_t bound) { return static_cast<rank_t>(random() % bound); }

}  // namespace coset::schedule::testing
