// SPDX-License-Identifier: Apache-2.0
// The groups: axioms, exhaustively to order 64 and for products that need not commute.
#include "planning/schedule/groups/group.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <string>

#include "schedule/effort.hpp"
#include "schedule/groups/some_groups.hpp"

namespace coset::schedule {
namespace {

/// All ways to write an order as an ordered product of factors >= 2, and the order with a factor 1 in between.
void factorizations(rank_t order, std::vector<rank_t> const& prefix, std::vector<group>& found) {
  if (order == 1) found.emplace_back(prefix);
  for (rank_t n = 2; n <= order; ++n)
    if (order % n == 0) {
      auto longer = prefix;
      longer.push_back(n);
      factorizations(order / n, longer, found);
    }
}

std::vector<group> groups_to_order(rank_t largest) {
  std::vector<group> found;
  for (rank_t order = 1; order <= largest; ++order) factorizations(order, {}, found);
  found.push_back(group({3, 1, 4}));
  return found;
}

std::string name(group const& g) {
  std::string text;
  for (rank_t const n : g.factors()) text += "x" + std::to_string(n);
  return text;
}

TEST(Group, HasANeutralElementInversesAndCommutes) {
  for (group const& g : groups_to_order(64))
    for (element a = 0; a < g.order(); ++a) {
      ASSERT_EQ(g.add(a, 0), a) << name(g);
      ASSERT_EQ(g.add(a, g.negate(a)), 0u) << name(g);
      for (element b = 0; b < g.order(); ++b) {
        ASSERT_EQ(g.add(a, b), g.add(b, a)) << name(g);
        ASSERT_EQ(g.add(g.subtract(a, b), b), a) << name(g);
      }
    }
}

TEST(Group, IsAssociative) {
  for (group const& g : groups_to_order(24))
    for (element a = 0; a < g.order(); ++a)
      for (element b = 0; b < g.order(); ++b)
        for (element c = 0; c < g.order(); ++c) ASSERT_EQ(g.add(g.add(a, b), c), g.add(a, g.add(b, c))) << name(g);
  for (group const& g : {group::cyclic(64), group::binary(6), group({4, 16}), group({8, 2, 4})})
    for (element a = 0; a < g.order(); ++a)
      for (element b = 0; b < g.order(); ++b)
        for (element c = 0; c < g.order(); ++c) ASSERT_EQ(g.add(g.add(a, b), c), g.add(a, g.add(b, c))) << name(g);
}

TEST(Group, ActsRegularly) {
  for (group const& g : groups_to_order(64))
    for (element a = 0; a < g.order(); ++a) {
      std::set<element> images;
      for (element b = 0; b < g.order(); ++b) images.insert(g.add(a, b));
      ASSERT_EQ(images.size(), g.order()) << name(g);
      ASSERT_LT(*images.rbegin(), g.order()) << name(g);
    }
}

TEST(Group, KolmakovTable1CyclicOfOrder8) {
  group const g = group::cyclic(8);
  for (element shift = 0; shift < 8; ++shift)
    for (element x = 0; x < 8; ++x) EXPECT_EQ(g.add(x, shift), (x + shift) % 8);
}

TEST(Group, KolmakovTable1BinaryFromThreeInvolutions) {
  group const g = group::binary(3);
  rank_t const pairs[3][4][2] = {
      {{0, 1}, {2, 3}, {4, 5}, {6, 7}}, {{0, 2}, {1, 3}, {4, 6}, {5, 7}}, {{0, 4}, {1, 5}, {2, 6}, {3, 7}}};
  for (unsigned bit = 0; bit < 3; ++bit)
    for (auto const& [a, b] : pairs[bit]) {
      EXPECT_EQ(g.add(a, 1u << bit), b);
      EXPECT_EQ(g.add(b, 1u << bit), a);
    }
  for (element a = 0; a < 8; ++a)
    for (element b = 0; b < 8; ++b) EXPECT_EQ(g.add(a, b), a ^ b);
}

rank_t const largest = by_effort<rank_t>(20, 30, 48);

std::string numbered(std::size_t index) { return "group " + std::to_string(index); }

TEST(GroupInOneOrder, IsAssociativeAndHasInversesOnBothSides) {
  auto const all = testing::groups_in_one_order(largest);
  ASSERT_GT(all.size(), 50u);
  for (std::size_t i = 0; i < all.size(); ++i) {
    group const& g = all[i];
    bool commutes = true;
    for (element a = 0; a < g.order(); ++a) {
      ASSERT_EQ(g.add(a, 0), a) << numbered(i);
      ASSERT_EQ(g.add(0, a), a) << numbered(i);
      ASSERT_EQ(g.add(a, g.negate(a)), 0u) << numbered(i);
      ASSERT_EQ(g.add(g.negate(a), a), 0u) << numbered(i);
      for (element b = 0; b < g.order(); ++b) {
        commutes &= g.add(a, b) == g.add(b, a);
        ASSERT_EQ(g.subtract(g.add(a, b), b), a) << numbered(i);
        for (element c = 0; c < g.order(); ++c)
          ASSERT_EQ(g.add(g.add(a, b), c), g.add(a, g.add(b, c))) << numbered(i) << " of order " << g.order();
      }
    }
    EXPECT_EQ(g.commutes(), commutes) << numbered(i);
  }
}

TEST(GroupInOneOrder, ActsRegularlyFromBothSides) {
  for (group const& g : testing::groups_in_one_order(largest))
    for (element a = 0; a < g.order(); ++a) {
      std::set<element> after, before;
      for (element b = 0; b < g.order(); ++b) {
        after.insert(g.add(b, a));
        before.insert(g.add(a, b));
      }
      ASSERT_EQ(after.size(), g.order());
      ASSERT_EQ(before.size(), g.order());
      ASSERT_LT(*after.rbegin(), g.order());
    }
}

TEST(GroupInOneOrder, DihedralRanksCountForwardsAndBackwardsInTurn) {
  for (rank_t order = 2; order <= 64; order += 2) {
    group const g = group::dihedral(order);
    EXPECT_EQ(g.commutes(), order <= 4) << order;
    for (element a = 0; a < order; ++a) {
      for (element b = 0; b < order; ++b) ASSERT_EQ(g.add(a, b), (a % 2 == 0 ? a + b : a + order - b) % order) << order;
      EXPECT_EQ(g.negate(a), a % 2 == 0 ? (order - a) % order : a);
    }
  }
}

TEST(GroupInOneOrder, ItsFastestRanksAreASubgroupWhoseCosetsAreNeighbours) {
  for (group const& g : testing::groups_in_one_order(largest)) {
    rank_t width = 1;
    for (rank_t const n : g.factors()) {
      width *= n;
      for (element a = 0; a < g.order(); ++a)
        for (element h = 0; h < width; ++h) ASSERT_EQ(g.add(a, h) / width, a / width);
    }
    EXPECT_EQ(width, g.order());
  }
}

TEST(GroupInOneOrder, RefusesWhatIsNoGroup) {
  for (rank_t const odd : {0u, 1u, 3u, 7u}) EXPECT_THROW(group::dihedral(odd), schedule_error) << odd;
  EXPECT_THROW(group::semidirect(3, 7, 3), schedule_error);  // 3 has order 6 modulo 7
  EXPECT_THROW(group::semidirect(2, 4, 2), schedule_error);
  EXPECT_THROW(group::semidirect(2, 0, 1), schedule_error);
  EXPECT_THROW(group::semidirect(0, 3, 1), schedule_error);
  EXPECT_THROW(group::product(group::cyclic(65536), group::dihedral(65536)), schedule_error);
}

TEST(Group, RefusesFactorsThatMakeNoGroupOfRanks) {
  EXPECT_THROW(group({3, 0}), schedule_error);
  EXPECT_THROW(group({65536, 65536}), schedule_error);
  EXPECT_EQ(group({65535, 65537}).order(), UINT32_MAX);
}

}  // namespace
}  // namespace coset::schedule
