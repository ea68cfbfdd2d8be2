// SPDX-License-Identifier: Apache-2.0
// Two levels over hosts of any sizes: right for every shape, leaders and radix, at the rounds and volumes stated.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "command/shown/draw.hpp"
#include "command/shown/networks/link_traffic.hpp"
#include "planning/schedule/core/required.hpp"
#include "schedule/effort.hpp"
#include "schedule/schedules.hpp"

namespace coset::schedule::testing {
namespace {

constexpr unsigned seed = 20240311;
rank_t const most_ranks = by_effort<rank_t>(5, 13, 16);

struct two_levels {
  std::vector<rank_t> hosts;
  rank_t leaders, radix, saved, inner;

  rank_t count() const { return static_cast<rank_t>(hosts.size()); }
  rank_t ranks() const { return std::accumulate(hosts.begin(), hosts.end(), rank_t{0}); }
  rank_t largest() const { return std::ranges::max(hosts); }
  rank_t wide() const { return inner == 0 ? std::max(largest(), rank_t{2}) : inner; }
  rank_t leaders_of(rank_t host) const { return leaders == 0 ? hosts[host] : std::min(hosts[host], leaders); }
  std::uint32_t between() const { return ceil_log(count(), radix); }

  std::string text() const {
    return "two_level(nodes=" + text_of(hosts) + ",leaders=" + std::to_string(leaders) +
           ",radix=" + std::to_string(radix) + ",saved_steps=" + std::to_string(saved) +
           ",inner=" + std::to_string(inner) + ")";
  }
  schedule made(verb what = verb::allreduce, rank_t root = 0) const { return schedule_of(text(), ranks(), what, root); }
  std::vector<rank_t> host_of_ranks() const {
    std::vector<rank_t> all;
    for (rank_t h = 0; h < count(); ++h) all.insert(all.end(), hosts[h], h);
    return all;
  }
};

// One host, hosts of one rank, halves, one rank beside the others on either side, and some at random.
std::vector<std::vector<rank_t>> shapes(rank_t ranks, std::mt19937& random) {
  std::vector<std::vector<rank_t>> all{{ranks}, std::vector<rank_t>(ranks, 1)};
  if (ranks > 2) all.insert(all.end(), {{ranks / 2, ranks - ranks / 2}, {1, ranks - 1}, {ranks - 1, 1}});
  for (int i = 0; ranks > 3 && i < 2; ++i) {
    auto& hosts = all.emplace_back();
    for (rank_t left = ranks; left > 0; left -= hosts.back())
      hosts.push_back(1 + static_cast<rank_t>(random() % std::min(left, rank_t{5})));
  }
  return all;
}

template <typename Visit>
void for_each_two_levels(Visit visit) {
  std::mt19937 random(seed);
  for (rank_t ranks = 1; ranks <= most_ranks; ++ranks)
    for (auto const& hosts : shapes(ranks, random))
      for (rank_t const leaders : {0u, 1u, 2u, 3u})
        for (rank_t const radix : {rank_t{2}, rank_t{3}, std::max(static_cast<rank_t>(hosts.size()), rank_t{4})})
          for (rank_t const inner : {0u, 2u, 3u})
            for (rank_t saved = 0; saved <= ceil_log(static_cast<rank_t>(hosts.size()), radix); ++saved)
              visit(two_levels{hosts, leaders, radix, saved, inner});
}

TEST(TwoLevel, IsRightInTheRoundsStatedForEveryShapeLeadersAndRadix) {
  for_each_two_levels([](two_levels const& how) {
    auto const found = validate(how.made());
    EXPECT_EQ(found.steps, 2 * ceil_log(how.largest(), how.wide()) + 2 * how.between() - how.saved) << how.text();
  });
}

TEST(TwoLevel, HasTheSameBitsOnEveryRankWhereTheFoldBetweenHostsHas) {
  for_each_two_levels([](two_levels const& how) {
    auto const found = validate(how.made());
    std::string const fold =
        "generalized(radix=" + std::to_string(how.radix) + ",saved_steps=" + std::to_string(how.saved) + ")";
    EXPECT_EQ(found.rank_uniform, validate(schedule_of(fold, how.count())).rank_uniform) << how.text();
    EXPECT_TRUE(found.rank_uniform || (how.saved > 0 && how.radix < how.count())) << how.text();
  });
}

TEST(TwoLevel, KeepsRankOrderWhereHostsMeetInOneStepAndTheirRanksToo) {
  for_each_two_levels([](two_levels const& how) {
    bool in_order = how.radix >= how.count();
    for (rank_t h = 0; h < how.count(); ++h)
      in_order = in_order && (how.leaders_of(h) < how.hosts[h] || how.hosts[h] <= how.wide());
    if (!in_order) return;
    for (verb const what : {verb::allreduce, verb::reduce, verb::reduce_scatter})
      EXPECT_TRUE(validate(how.made(what, how.ranks() / 2)).ordered) << how.text();
  });
  EXPECT_FALSE(validate(schedule_of("two_level(nodes=2+2+2)", 6)).ordered);
  EXPECT_FALSE(validate(schedule_of("two_level(nodes=5+5,leaders=0,inner=2)", 10)).ordered);
}

TEST(TwoLevel, ReachesTheLowerBoundOnEveryHostsLink) {
  for_each_two_levels([](two_levels const& how) {
    if (how.saved > 0) return;
    std::int64_t const hosts = how.count();
    fraction const bound(2 * (hosts - 1), hosts);
    for (auto const& [out, in] : host_traffic(how.made(), how.host_of_ranks())) {
      EXPECT_EQ(out, bound) << how.text();
      EXPECT_EQ(in, bound) << how.text();
    }
  });
}

// Equal hosts, one step inside: a leader reads its part of c − 1 ranks, its share between the hosts, the other parts.
TEST(TwoLevel, SharesTheWorkOfAHostAmongItsLeaders) {
  for (std::int64_t const hosts : {1, 2, 3, 5, 8})
    for (std::int64_t const size : {1, 2, 3, 4, 6})
      for (std::int64_t leaders = 1; leaders <= size; ++leaders) {
        two_levels const how{std::vector<rank_t>(static_cast<std::size_t>(hosts), static_cast<rank_t>(size)),
                             static_cast<rank_t>(leaders), 2, 0, 0};
        auto const found = validate(how.made());
        fraction const between(hosts - 1, hosts * leaders), inside(size - 1, leaders);
        fraction const leader = inside + between * 2 + fraction(leaders - 1, leaders);
        EXPECT_EQ(found.received_max, std::max(leader, fraction(size > leaders ? 1 : 0))) << how.text();
        EXPECT_EQ(found.sent_max, std::max(leader, fraction(size > leaders ? 1 : 0))) << how.text();
        EXPECT_EQ(found.combined_max, inside + between) << how.text();
        EXPECT_EQ(found.fan_in, std::max({size - 1, std::int64_t{hosts > 1}, size > leaders ? leaders : 0}))
            << how.text();
      }
}

TEST(TwoLevel, LetsOnlyTheFirstRanksOfAHostTalkToOthers) {
  for_each_two_levels([](two_levels const& how) {
    std::vector<rank_t> number;  // of each rank in its host
    for (rank_t const size : how.hosts)
      for (rank_t i = 0; i < size; ++i) number.push_back(i);
    auto const host = how.host_of_ranks();
    auto const made = how.made();
    for (auto const& step : made.steps)
      for (assignment const& a : step)
        for (source const& from : made.from(a)) {
          bool const leaders =
              number[a.rank] < how.leaders_of(host[a.rank]) && number[from.rank] < how.leaders_of(host[from.rank]);
          EXPECT_TRUE(leaders || host[from.rank] == host[a.rank]) << how.text();
        }
  });
}

TEST(TwoLevel, ServesEveryVerbForLeadersAndOthersAsRoots) {
  std::mt19937 random(seed);
  for (rank_t ranks = 1; ranks <= most_ranks; ++ranks)
    for (auto const& hosts : shapes(ranks, random))
      for (rank_t const leaders : {0u, 1u, 2u})
        for (rank_t const inner : {0u, 2u})
          for (rank_t const saved : {rank_t{0}, ceil_log(static_cast<rank_t>(hosts.size()))}) {
            two_levels const how{hosts, leaders, 2, saved, inner};
            for (verb const what : find_algorithm("two_level").verbs) {
              bool const rooted = what == verb::reduce || what == verb::broadcast;
              for (rank_t root = 0; root < (rooted ? ranks : 1); ++root)
                EXPECT_NO_THROW(validate(how.made(what, root))) << how.text() << name_of(what) << root;
            }
          }
}

// A host's link has to bring what other hosts' ranks give, or take away what they keep.
TEST(TwoLevel, AllgatherAndReduceScatterSendNoMoreThanAllreduce) {
  two_levels const how{{5, 2, 4}, 2, 2, 0, 0};
  for (verb const what : {verb::allgather, verb::reduce_scatter}) {
    auto const loads = host_traffic(how.made(what), how.host_of_ranks());
    for (rank_t h = 0; h < how.count(); ++h) {
      fraction const others = fraction(1) - fraction(how.hosts[h], 11);
      EXPECT_GE(what == verb::allgather ? loads[h].in : loads[h].out, others) << h;
      EXPECT_LE(loads[h].in, fraction(2 * 2, 3)) << h;
      EXPECT_LE(loads[h].out, fraction(2 * 2, 3)) << h;
    }
  }
}

// What a schedule does, without the name of its algorithm.
std::string steps_of(schedule const& made) {
  std::string const text = draw_text(made);
  return text.substr(text.find('\n'));
}

TEST(TwoLevel, WithOneLeaderOrAllIsWhatLeadersAndUnequalDo) {
  std::mt19937 random(seed);
  for (rank_t ranks = 1; ranks <= most_ranks; ++ranks)
    for (auto const& hosts : shapes(ranks, random)) {
      two_levels const one{hosts, 1, 2, 0, 2}, all{hosts, 0, 3, 0, 3};
      EXPECT_EQ(steps_of(one.made()), steps_of(schedule_of("leaders(nodes=" + text_of(hosts) + ")", ranks)))
          << one.text();
      EXPECT_EQ(steps_of(all.made()), steps_of(schedule_of("unequal(radix=3,nodes=" + text_of(hosts) + ")", ranks)))
          << all.text();
    }
}

TEST(TwoLevel, OfHundredsOfRanksIsValid) {
  two_levels how{{}, 3, 2, 0, 0};
  for (rank_t h = 0; h < by_effort<rank_t>(5, 12, 24); ++h) how.hosts.push_back(16 + h % 5);
  for (verb const what : {verb::allreduce, verb::reduce_scatter})
    EXPECT_NO_THROW(validate(how.made(what))) << how.text();
}

TEST(TwoLevel, TakesAnyAlgorithmBetweenHostsWithItsBitsAndOrder) {
  std::mt19937 random(seed);
  for (rank_t ranks = 1; ranks <= most_ranks; ++ranks)
    for (auto const& hosts : shapes(ranks, random))
      for (rank_t const leaders : {0u, 1u, 2u})
        for (char const* const text : {"ring", "direct", "hybrid", "recursive_doubling", "latency(radix=3)", "bruck_ho",
                                       "circulant(radix=3)", "binomial(radix=3)", "butterfly"}) {
          auto const between = algorithm::parse(text);
          algorithm how{"two_level", between.parameters};
          how.parameters.insert(
              {{"nodes", text_of(hosts)}, {"leaders", std::to_string(leaders)}, {"between", between.name}});
          auto const fold = make(between, static_cast<rank_t>(hosts.size())), made = make(how, ranks);
          auto const alone = validate(fold), found = validate(made);
          EXPECT_EQ(made.idempotent_only, fold.idempotent_only) << how.text();
          EXPECT_EQ(found.steps, alone.steps + (std::ranges::max(hosts) > 1 ? 2 : 0)) << how.text();
          EXPECT_EQ(found.rank_uniform, alone.rank_uniform) << how.text();
          EXPECT_TRUE(found.ordered || !alone.ordered) << how.text();
        }
}

TEST(TwoLevel, BadParametersSayWhatWouldDo) {
  auto const refusal = [](std::string const& text, rank_t ranks) -> std::string {
    try {
      schedule_of(text, ranks);
    } catch (schedule_error const& refused) {
      return refused.what();
    }
    return "";
  };
  EXPECT_NE(refusal("two_level", 8).find("nodes=5+2+4"), std::string::npos);
  EXPECT_NE(refusal("two_level(nodes=5+2)", 8).find("hold 7 ranks"), std::string::npos);
  EXPECT_NE(refusal("two_level(nodes=4+0+4)", 8).find("has 0 ranks"), std::string::npos);
  EXPECT_NE(refusal("two_level(nodes=4+4,radix=1)", 8).find("radix = 1 folds nothing"), std::string::npos);
  EXPECT_NE(refusal("two_level(nodes=4+4,inner=1)", 8).find("inner = 1 folds nothing"), std::string::npos);
  EXPECT_NE(refusal("two_level(nodes=4+4,saved_steps=2)", 8).find("save 0 to 1"), std::string::npos);
  EXPECT_NE(refusal("two_level(nodes=8,saved_steps=1)", 8).find("save 0 to 0"), std::string::npos);
  EXPECT_NE(refusal("two_level(nodes=4+4,between=ring,radix=3)", 8).find("ring has no parameter radix"),
            std::string::npos);
  EXPECT_NE(refusal("two_level(nodes=4+4,between=product)", 8).find("dims=1 is not the number of ranks, 2"),
            std::string::npos);
  EXPECT_NE(refusal("two_level(nodes=4+4,dims=2)", 8).find("generalized has no parameter dims"), std::string::npos);
  EXPECT_NE(refusal("two_level(nodes=4+4,between=two_level)", 8).find("needs the ranks of every node"),
            std::string::npos);
  std::string const most = "4294967295";
  auto const found =
      validate(schedule_of("two_level(nodes=3+4,leaders=" + most + ",radix=" + most + ",inner=" + most + ")", 7));
  EXPECT_EQ(found.steps, 4u);
}

}  // namespace
}  // namespace coset::schedule::testing
