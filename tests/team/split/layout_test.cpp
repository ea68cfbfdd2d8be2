// SPDX-License-Identifier: Apache-2.0
// Which ranks of a part share memory, and who sends for whom.
#include "team/split/layout.hpp"

#include <gtest/gtest.h>

namespace coset::team_test {
namespace {

using namespace team_room;
using program::distribution;

/// Hosts of 3 + 2 and of 4 ranks: processes 0–2, 3–4 and 5–8.
distribution whole(rank_t carriers) {
  return {.domains = {0, 5, 9}, .processes = {{0, carriers}, {3, carriers}, {5, carriers}}};
}

std::vector<rank_t> proxies(layout const& of) {
  std::vector<rank_t> all;
  for (rank_t r = 0; r < of.in_whole.size(); ++r) all.push_back(of.spread.proxy_of(r));
  return all;
}

TEST(Layout, OrdersTheRanksOfAColourByKeyAndRank) {
  std::vector<wish> const wishes{{1, 5, 0, 0}, {-1, 0, 0, 0}, {1, -5, 0, 0}, {1, 5, 0, 0}, {-1, 0, 0, 0}};
  EXPECT_EQ(ranks_of(1, wishes), (std::vector<rank_t>{2, 0, 3}));
  EXPECT_EQ(ranks_of(-1, wishes), (std::vector<rank_t>{1, 4}));
  auto const all = ranks_of_each_colour(wishes);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all.at(1), ranks_of(1, wishes));
  EXPECT_EQ(all.at(-1), ranks_of(-1, wishes));
}

TEST(Layout, KeepsTheDomainsOfTheWholeWhereOrderIsKept) {
  auto const part = lay_out({1, 2, 3, 6, 7}, whole(2), true, true);
  EXPECT_EQ(part.spread.domains, (std::vector<rank_t>{0, 3, 5}));
  EXPECT_EQ(part.of_several_processes, (std::vector<char>{1, 0}));
  EXPECT_TRUE(part.shares_memory_between_processes());
  EXPECT_EQ(proxies(part), (std::vector<rank_t>{0, 1, 2, 3, 4}));
}

TEST(Layout, MakesADomainOfEachRunOfRanksThatShareMemory) {
  auto const part = lay_out({0, 5, 1, 6, 7}, whole(2), true, true);
  EXPECT_EQ(part.spread.domains, (std::vector<rank_t>{0, 1, 2, 3, 5}));
  EXPECT_FALSE(part.shares_memory_between_processes());
  EXPECT_FALSE(part.silent);
}

TEST(Layout, SeparatesProcessesWithoutCommonMemory) {
  auto const part = lay_out({2, 3, 4, 5}, whole(1), false, true);
  EXPECT_EQ(part.spread.domains, (std::vector<rank_t>{0, 1, 3, 4}));
  EXPECT_FALSE(part.shares_memory_between_processes());
  EXPECT_EQ(proxies(part), (std::vector<rank_t>{0, 1, 1, 3}));
}

TEST(Layout, LetsTheFirstRankOfAProcessSendForItsWholeHost) {
  auto const part = lay_out({4, 2, 3, 6, 5}, whole(1), true, false);
  EXPECT_EQ(part.spread.domains, (std::vector<rank_t>{0, 3, 5}));
  EXPECT_EQ(proxies(part), (std::vector<rank_t>{2, 2, 2, 4, 4}));
  EXPECT_FALSE(part.silent);
}

TEST(Layout, KnowsProcessesWhoseProxyIsNotTheirs) {
  EXPECT_FALSE(lay_out({0, 1, 4, 5}, whole(1), true, false).spread.sends_by_stretches());
  EXPECT_FALSE(lay_out({1, 2, 3, 4, 5}, whole(1), true, false).spread.sends_by_stretches());
  EXPECT_TRUE(lay_out({1, 2, 3, 4, 5}, whole(1), true, true).spread.sends_by_stretches());
}

/// Whoever sends for them: only ranks of one process read each other's arrays.
TEST(Layout, KnowsRanksOfOneProcessThatFollowEachOther) {
  auto const stretches = [](std::vector<rank_t> in_whole, bool any_rank_sends) {
    return lay_out(std::move(in_whole), whole(1), true, any_rank_sends).spread;
  };
  for (bool const any_rank_sends : {false, true}) {
    auto const in_order = stretches({0, 1, 3, 4, 5}, any_rank_sends);
    EXPECT_EQ(in_order.stretches, (std::vector<rank_t>{0, 2, 4}));
    EXPECT_FALSE(in_order.scattered);
    EXPECT_EQ(in_order.leaders(5), (std::vector<rank_t>{0, 0, 2, 2}));
    auto const backwards = stretches({5, 4, 3, 1, 0}, any_rank_sends);
    EXPECT_EQ(backwards.stretches, (std::vector<rank_t>{0, 1, 3}));
    EXPECT_TRUE(in_order.sends_by_stretches() && backwards.sends_by_stretches());
    EXPECT_FALSE(backwards.scattered);
    auto const mixed = stretches({3, 0, 4, 1}, any_rank_sends);
    EXPECT_EQ(mixed.stretches, (std::vector<rank_t>{0, 1, 2, 3}));
    EXPECT_TRUE(mixed.scattered);
  }
}

TEST(Layout, NamesRanksForWhichNobodySends) {
  EXPECT_EQ(lay_out({0, 1, 6, 7}, whole(1), true, false).silent, rank_t{6});
  EXPECT_EQ(lay_out({4, 5, 6}, whole(1), true, false).silent, rank_t{4});
  EXPECT_EQ(lay_out({1, 2, 4}, whole(1), false, false).silent, rank_t{1});
  EXPECT_FALSE(lay_out({1, 2, 4}, whole(1), true, false).silent) << "who shares memory need not send";
}

TEST(Layout, KnowsWhatIsInOneProcess) {
  EXPECT_TRUE(is_one_process(std::vector<rank_t>{4, 3}, whole(1)));
  EXPECT_FALSE(is_one_process(std::vector<rank_t>{2, 3}, whole(1)));
}

}  // namespace
}  // namespace coset::team_test
