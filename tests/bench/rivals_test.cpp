// SPDX-License-Identifier: Apache-2.0
// Every contestant is right, for every type and operation, and asleep afterwards: else the comparison is void.
#include "command/measure/harness/rivals.hpp"
#include "command/measure/harness/contestant.hpp"

#include <gtest/gtest.h>

#include "command/measure/harness/rounds.hpp"
#include "command/measure/machine/parking.hpp"
#include "coset/topology.hpp"
#include "effort.hpp"

namespace coset::measure {
namespace {

/// One processor per rank, and round again where there are not enough.
std::vector<unsigned> processors_for(rank_t ranks) {
  auto const all = topology::machine().processors;
  std::vector<unsigned> chosen;
  for (rank_t r = 0; r < ranks; ++r) chosen.push_back(all[r % all.size()].os_index);
  return chosen;
}

std::vector<problem> problems(rank_t ranks) {
  std::vector<problem> all;
  test::sample few(3);
  for (auto e : {element_kind::int32, element_kind::int64, element_kind::float32, element_kind::float64}) {
    for (auto o :
         {operation_kind::plus, operation_kind::multiplies, operation_kind::minimum, operation_kind::maximum}) {
      for (std::size_t count : {1, 2, 17, 1000}) {
        if (!few.skips()) all.push_back({e, o, count, ranks});
      }
    }
  }
  return all;
}

void expect_right(contestant& player, rank_t ranks) {
  for (auto const& p : problems(ranks)) {
    workload const work(p);
    for (auto timing : {timing::call, timing::cycle}) {
      auto const result = player.burst(work, {timing, 1, 3});
      EXPECT_EQ(result.wrong, 0u) << player.name() << ", " << name_of(p.element) << ' ' << name_of(p.operation) << ", "
                                  << p.count << " items, " << ranks << " ranks";
      EXPECT_EQ(result.nanoseconds.size(), 3u);
    }
  }
}

class Contestants : public testing::TestWithParam<rank_t> {};

TEST_P(Contestants, AreRightForEveryTypeAndOperation) {
  for (auto& rival : make_rivals(verb::allreduce, processors_for(GetParam()), rival_families()))
    expect_right(*rival, GetParam());
}

TEST_P(Contestants, SleepBetweenBursts) {
  problem const p{.count = 100, .ranks = GetParam()};
  workload const work(p);
  for (auto& rival : make_rivals(verb::allreduce, processors_for(GetParam()), rival_families())) {
    rival->burst(work, {timing::cycle, 1, 3});
    EXPECT_NO_THROW(wait_until_others_sleep()) << rival->name();
  }
}

TEST_P(Contestants, OfBandwidthTimeEveryRankAndFoldsLeaveSums) {
  problem const p{.count = 1000, .ranks = GetParam()};
  auto const processors = processors_for(GetParam());
  workload const work(p);
  contestants players;
  players.push_back(make_reading(processors));
  players.push_back(make_copying(processors));
  players.push_back(make_folding(processors, false));
  players.push_back(make_folding(processors, true));
  for (auto const& player : players) {
    auto const result = player->burst(work, {timing::call, 1, 3});
    ASSERT_EQ(result.by_rank.size(), GetParam()) << player->name();
    for (double const nanoseconds : result.by_rank) EXPECT_GT(nanoseconds, 0) << player->name();
    bool const folds = player->name().starts_with("fold");
    for (rank_t r = 0; folds && r < GetParam(); ++r) EXPECT_EQ(work.wrong(r, work.output(r), 0), 0u) << player->name();
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, Contestants, testing::Values(1u, 2u, 5u), testing::PrintToStringParamName());

TEST(Workload, NoticesEveryWrongItem) {
  problem const p{element_kind::float32, operation_kind::plus, 37, 2};
  workload const work(p);
  work.rewrite(0, 5);
  EXPECT_EQ(work.wrong(0, work.input(0), 5), 37u);  // one rank's items are not the sum of two
  auto const floor = make_rivals(verb::allreduce, processors_for(2), {"std"});
  floor.front()->burst(work, {timing::cycle, 0, 4});
  EXPECT_EQ(work.wrong(1, work.output(1), 3), 0u);
  EXPECT_GT(work.wrong(1, work.output(1), 4), 0u);  // the answer of iteration 3 is not the next one's
  reinterpret_cast<float*>(work.output(1))[36] += 1;
  EXPECT_EQ(work.wrong(1, work.output(1), 3), 1u);
}

/// Red if own work reads wrong results: to look for what is wrong takes another pass, which would be taken off every plan.
TEST(Workload, OwnWorkReadsWhatIsRight) {
  for (verb const what : {verb::allreduce, verb::reduce, verb::reduce_scatter, verb::allgather, verb::broadcast,
                          verb::scan, verb::gather, verb::scatter, verb::all_to_all, verb::reduce_shared}) {
    workload const work({.count = 36, .ranks = 3, .what = what});
    auto const result = make_own_work(processors_for(3))->burst(work, {timing::cycle, 1, 12});
    EXPECT_EQ(result.wrong, 0u) << name_of(what);
    EXPECT_EQ(result.by_rank.size(), 3u);
  }
}

/// Of each round the busiest rank's own work; 0 of who declined, and of who is lost in that work.
TEST(Rounds, WhatIsAddedIsBeyondTheBusiestRanksOwnWork) {
  measurement found;
  found.declined = {"", "", "cannot", ""};
  state_figures often{"near", 30, std::vector<figures>(4), 3}, seldom{"far", 200, std::vector<figures>(4), 1};
  often.of[0].rounds = {100, 210, 330};
  often.of[1].rounds = {11, 21, 31};
  often.of[3] = {.rounds = {5, 5, 5}, .samples = {}, .by_rank = {{2, 20}, {40, 30}, {10, 50}}};
  seldom.of[0].rounds = {9000};
  found.states = {often, seldom};
  EXPECT_EQ(added_to(found, 3), (std::vector<double>{170, 0, 0, 0}));
  EXPECT_EQ(added_to({.shape = {}, .states = {}, .declined = {"", ""}, .wrong = {}}, 1), (std::vector<double>{0, 0}));
}

TEST(Workload, NamesAreThoseOfTheTables) {
  EXPECT_EQ(element_named("float"), element_kind::float32);
  EXPECT_EQ(operation_named("prod"), operation_kind::multiplies);
  EXPECT_THROW(element_named("half"), argument_error);
  EXPECT_THROW(operation_named("avg"), argument_error);
}

}  // namespace
}  // namespace coset::measure
