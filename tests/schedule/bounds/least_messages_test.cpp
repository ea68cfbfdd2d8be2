// SPDX-License-Identifier: Apache-2.0
// [PY], Lemma 1, by looking at every way in which ranks may exchange messages.
#include "lab/search/least_messages.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace coset::schedule {
namespace {

TEST(LeastMessages, AreTwiceAllOtherRanks) {
  EXPECT_EQ(least_messages(1), 0u);
  EXPECT_EQ(least_messages(2), 2u);
  EXPECT_EQ(least_messages(3), 4u);
  EXPECT_EQ(least_messages(4), 6u);
  EXPECT_EQ(least_messages(5), 8u);
}

/// [rank]: the sums that it has received or begins with, each a set of contributors.
using received = std::vector<std::set<unsigned>>;

/// All sums of disjoint ones.
std::set<unsigned> formed_of(std::set<unsigned> const& some) {
  std::set<unsigned> all{0};
  for (unsigned const one : some) {
    std::set<unsigned> more = all;
    for (unsigned const other : all)
      if ((one & other) == 0) more.insert(one | other);
    all = more;
  }
  all.erase(0);
  return all;
}

/// By the definition: any message at any time; nothing is left out, not even what its receiver has.
bool is_enough(received const& before, unsigned messages) {
  unsigned const ranks = static_cast<unsigned>(before.size()), everybody = (1u << ranks) - 1;
  std::set<received> reached{before};
  for (unsigned sent = 0; sent < messages; ++sent) {
    std::set<received> next;
    for (received const& now : reached)
      for (unsigned from = 0; from < ranks; ++from)
        for (unsigned const value : formed_of(now[from]))
          for (unsigned to = 0; to < ranks; ++to) {
            received after = now;
            after[to].insert(value);
            next.insert(after);
          }
    reached = next;
  }
  for (received const& last : reached) {
    unsigned finished = 0;
    for (auto const& sums : last) finished += formed_of(sums).contains(everybody) ? 1 : 0;
    if (finished == ranks) return true;
  }
  return false;
}

TEST(LeastMessages, OfFewRanksAreThoseOfASearchThatLeavesNothingOut) {
  for (unsigned ranks = 1; ranks <= 3; ++ranks) {
    received begin;
    for (unsigned r = 0; r < ranks; ++r) begin.push_back({1u << r});
    std::uint32_t const least = least_messages(ranks);
    EXPECT_TRUE(is_enough(begin, least)) << ranks;
    EXPECT_TRUE(least == 0 || !is_enough(begin, least - 1)) << ranks;
  }
}

TEST(LeastMessages, AreRefusedForNoneAndForTooMany) {
  EXPECT_THROW(least_messages(0), schedule_error);
  EXPECT_THROW(least_messages(most_searched_ranks + 1), schedule_error);
}

}  // namespace
}  // namespace coset::schedule
