// SPDX-License-Identifier: Apache-2.0
// Hidden clusters are looked at again before ranks start, and plans along them dropped where they are gone.
#include "planning/calibration/fit.hpp"
#include "planning/choice/rules/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "planning/choice/choose.hpp"
#include "planning/program/plan_text.hpp"
#include "variable.hpp"

namespace coset::choice {
namespace {

using calibration::clustering;
using calibration::fit;
using calibration::look_again;
using calibration::ping_pong;
using calibration::prober;
using calibration::profile;

using test::variable;
using ::testing::HasSubstr;

/// Near within these clusters of operating system numbers, far between; counts what it is asked.
class machine {
 public:
  explicit machine(std::vector<std::set<unsigned>> near) : near_(std::move(near)) {}

  prober probe() {
    return [this](unsigned a, unsigned b) -> std::optional<double> {
      asked.emplace_back(a, b);
      bool const together = std::ranges::any_of(near_, [&](auto const& c) { return c.contains(a) && c.contains(b); });
      return together ? 30.0 : 190.0;
    };
  }

  std::vector<std::pair<unsigned, unsigned>> asked;

 private:
  std::vector<std::set<unsigned>> near_;
};

/// Two halves: the even processors and the odd ones.
profile crossed(rank_t ranks) {
  profile made{.fingerprint = "", .date = "yesterday", .processors = {}, .latency = {}, .rules = {}};
  clustering halves(2);
  for (rank_t r = 0; r < ranks; ++r) {
    rank_t const half = r / (ranks / 2);
    made.processors.push_back(r % (ranks / 2) * 2 + half);
    halves[half].push_back(r);
    made.latency.emplace_back();
    for (rank_t q = 0; q < ranks; ++q) made.latency.back().push_back(q / (ranks / 2) == half ? 25 : 200);
  }
  made.hidden.levels = {halves};
  made.hidden.rules = {{verb::allreduce, ranks, 0, SIZE_MAX, plan_named("product(dims=2x2)"), false, true}};
  made.rules = {{verb::allreduce, ranks, 0, SIZE_MAX, plan_named("ring"), false}};
  return made;
}

std::vector<rank_t> groups_on(std::vector<processor> const& places) {
  question q{.ranks = static_cast<rank_t>(places.size())};
  put_on_levels(q, places);
  return groups_of(q);
}

std::vector<processor> places(rank_t ranks) {
  return topology::synthetic("core:" + std::to_string(ranks) + " pu:1").place(ranks, placement::compact);
}

std::string chosen(table const& from, rank_t ranks) {
  rule const* const found = from.find(verb::allreduce, ranks, 1000);
  return found == nullptr ? "none" : found->how.algorithm;
}

TEST(Fit, HoldsWhereEveryPairIsOnItsSide) {
  machine now({{0, 2}, {1, 3}});
  EXPECT_TRUE(look_again(crossed(4), now.probe()).holds);
  // One within and one between for each cluster.
  EXPECT_EQ(now.asked, (std::vector<std::pair<unsigned, unsigned>>{{0, 2}, {0, 3}, {1, 3}, {1, 2}}));
}

TEST(Fit, EndsWhereTheMachineHasMoved) {
  for (auto const& moved :
       std::vector<std::vector<std::set<unsigned>>>{{}, {{0, 1, 2, 3}}, {{0, 1}, {2, 3}}, {{0, 2}}}) {
    machine now(moved);
    auto const found = look_again(crossed(4), now.probe());
    EXPECT_FALSE(found.holds);
    EXPECT_THAT(found.because, HasSubstr(" than 71"));
  }
}

TEST(Fit, OutlastsOnePairThatIsInterrupted) {
  machine now({{0, 2}, {1, 3}});
  bool interrupted = false;
  auto const once = [&](unsigned a, unsigned b) {
    return std::exchange(interrupted, true) ? now.probe()(a, b) : std::optional(5000.0);
  };
  EXPECT_TRUE(look_again(crossed(4), once).holds);
}

TEST(Fit, IsNotAssumedWhereNothingIsMeasured) {
  EXPECT_FALSE(look_again(crossed(4), [](unsigned, unsigned) { return std::nullopt; }).holds);
  auto without = crossed(4);
  without.latency.pop_back();
  EXPECT_FALSE(look_again(without, machine({{0, 2}, {1, 3}}).probe()).holds);
}

TEST(Fit, OfLargeMachinesAsksSixteenPairsAtMost) {
  machine now({});
  auto large = crossed(128);
  clustering pairs;
  for (rank_t r = 0; r < 128; r += 2) pairs.push_back({r, r + 1});
  large.hidden.levels.insert(large.hidden.levels.begin(), pairs);
  for (rank_t r = 0; r < 128; ++r) large.latency[r][r ^ 1] = 10;
  std::size_t asked = 0;
  auto const like_the_profile = [&](unsigned a, unsigned b) {
    ++asked;
    auto const rank = [&](unsigned os) { return std::ranges::find(large.processors, os) - large.processors.begin(); };
    return std::optional(large.latency[static_cast<std::size_t>(rank(a))][static_cast<std::size_t>(rank(b))]);
  };
  EXPECT_TRUE(look_again(large, like_the_profile).holds);
  EXPECT_LE(asked, 16u);
  EXPECT_GE(asked, 8u);
}

TEST(Choices, FollowClustersThatAreThere) {
  machine now({{0, 2}, {1, 3}});
  auto on = places(4);
  auto const rules = choices_on(on, true, crossed(4), 4, now.probe());
  EXPECT_EQ(chosen(rules, 4), "product(dims=2x2)");
  EXPECT_EQ(chosen(rules.without_clusters(), 4), "ring");
  std::vector<unsigned> order;
  for (processor const& p : on) order.push_back(p.os_index);
  EXPECT_EQ(order, (std::vector<unsigned>{0, 2, 1, 3}));
  EXPECT_EQ(groups_on(on), (std::vector<rank_t>{2}));
}

TEST(Choices, AreFlatWhereClustersAreGone) {
  machine now({{0, 1}, {2, 3}});
  auto on = places(4);
  EXPECT_EQ(chosen(choices_on(on, true, crossed(4), 4, now.probe()), 4), "ring");
  EXPECT_EQ(on[1].os_index, 1u);
  EXPECT_EQ(groups_on(on), (std::vector<rank_t>{}));
}

TEST(Choices, OfOtherProcessorsOrAnotherOrderAskNothing) {
  machine now({{0, 2}, {1, 3}});
  for (rank_t const ranks : {3u, 5u}) {
    auto on = places(ranks);
    choices_on(on, true, crossed(4), 4, now.probe());
  }
  auto on = places(4);
  EXPECT_EQ(chosen(choices_on(on, false, crossed(4), 4, now.probe()), 4), "ring");
  EXPECT_TRUE(now.asked.empty());
}

TEST(Choices, OfRanksThatOutnumberProcessorsAskNothing) {
  machine now({{0, 2}, {1, 3}});
  auto on = places(4);
  EXPECT_EQ(chosen(choices_on(on, true, crossed(4), 3, now.probe()), 4), "ring");
  EXPECT_TRUE(now.asked.empty());
}

TEST(Choices, AreLogged) {
  variable const log("COSET_LOG", "plan");
  machine now({});
  auto on = places(4);
  ::testing::internal::CaptureStderr();
  choices_on(on, true, crossed(4), 4, now.probe());
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "coset: the clusters of yesterday are gone, flat plans in force: 0-2 takes 190 ns, not less than 71\n");
}

/// Others may have the processors: then each exchange takes as long as it takes to get them back.
TEST(PingPong, FindsALatencyAndPutsTheMaskBack) {
  auto const here = topology::machine();
  if (here.processors.size() < 2) GTEST_SKIP() << "needs two processors";
  auto const found = ping_pong(std::chrono::minutes(5))(here.processors[0].os_index, here.processors[1].os_index);
  ASSERT_TRUE(found);
  EXPECT_GT(*found, 1);
  EXPECT_EQ(topology::machine().processors.size(), here.processors.size());
}

TEST(PingPong, FindsNothingOnceItsTimeIsOver) {
  auto const here = topology::machine();
  EXPECT_FALSE(
      ping_pong(std::chrono::nanoseconds(-1))(here.processors.front().os_index, here.processors.back().os_index));
}

}  // namespace
}  // namespace coset::choice
