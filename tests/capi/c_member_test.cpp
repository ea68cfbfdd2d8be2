// SPDX-License-Identifier: Apache-2.0
// C functions called with members of C++ teams.
#include "coset/c_member.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "coset/coset.hpp"

namespace coset::inline COSET_ABI {
namespace {

TEST(CMember, IsTheRankThatItWasMadeOf) {
  team three({.ranks = 3, .place = placement::unbound});
  std::vector<std::uint32_t> ranks(3), sizes(3);
  three.run([&](member& me) {
    c_member const in_c(me);
    ranks[me.rank()] = coset_member_rank(in_c);
    sizes[me.rank()] = coset_member_size(in_c);
  });
  EXPECT_EQ(ranks, (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(sizes, std::vector<std::uint32_t>(3, 3));
}

TEST(CMember, MeetsRanksThatCallInCpp) {
  team three({.ranks = 3, .place = placement::unbound});
  std::vector<double> sums(3);
  three.run([&](member& me) {
    double const mine = me.rank() + 1.0;
    double& sum = sums[me.rank()];
    if (me.rank() == 1) {
      EXPECT_EQ(coset_allreduce(c_member(me), &mine, &sum, 1, COSET_FLOAT64, COSET_PLUS), COSET_SUCCESS);
    } else {
      sum = allreduce(me, mine);
    }
  });
  EXPECT_EQ(sums, std::vector<double>(3, 6));
}

TEST(CMember, IsNotForCToLeaveOrFree) {
  team one({.ranks = 1, .place = placement::unbound});
  one.run([](member& me) {
    c_member const in_c(me);
    EXPECT_EQ(coset_team_leave(in_c), COSET_ARGUMENT_ERROR);
    EXPECT_EQ(coset_member_free(in_c), COSET_ARGUMENT_ERROR);
  });
}

TEST(CMember, CanBeSplitInC) {
  team four({.ranks = 4, .place = placement::unbound});
  std::vector<std::uint32_t> sizes(4);
  four.run([&](member& me) {
    coset_member* part = nullptr;
    ASSERT_EQ(coset_member_split(c_member(me), me.rank() == 3 ? 1 : 0, 0, &part), COSET_SUCCESS);
    sizes[me.rank()] = coset_member_size(part);
    EXPECT_EQ(coset_member_free(part), COSET_SUCCESS);
  });
  EXPECT_EQ(sizes, (std::vector<std::uint32_t>{3, 3, 3, 1}));
}

}  // namespace
}  // namespace coset
