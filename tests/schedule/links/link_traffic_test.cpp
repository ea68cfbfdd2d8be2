// SPDX-License-Identifier: Apache-2.0
// What crosses the links of hosts and switches: closed forms, and a count that takes the definition word by word.
#include "command/shown/networks/link_traffic.hpp"

#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <tuple>

#include "schedule/schedules.hpp"

namespace coset::schedule::testing {
namespace {

std::vector<rank_t> equal_hosts(rank_t hosts, rank_t size) {
  std::vector<rank_t> all;
  for (rank_t h = 0; h < hosts; ++h) all.insert(all.end(), size, h);
  return all;
}

tree switches_of(std::string const& text) {
  std::istringstream file(text);
  return parse_tree(file, "test");
}

TEST(LinkTraffic, OfARingIsTheSameOnEveryLinkInBothDirections) {
  for (rank_t hosts = 1; hosts <= 6; ++hosts)
    for (rank_t size = 1; size <= 4; ++size) {
      std::int64_t const ranks = hosts * size;
      fraction const each = hosts > 1 ? fraction(2 * (ranks - 1), ranks) : fraction(0);
      auto const loads = host_traffic(schedule_of("ring", hosts * size), equal_hosts(hosts, size));
      EXPECT_EQ(loads, std::vector(hosts, link_load{each, each})) << hosts << " hosts of " << size;
    }
}

// Each of c ranks reads its block of the P − c ranks elsewhere, then each of these ranks' blocks: the former are
// different values, the latter the same ones c times.
TEST(LinkTraffic, OfValuesThatAHostSharesCountsOnce) {
  for (std::int64_t hosts = 2; hosts <= 4; ++hosts)
    for (std::int64_t size = 1; size <= 4; ++size) {
      std::int64_t const ranks = hosts * size, others = ranks - size;
      auto const made = schedule_of("direct", static_cast<rank_t>(ranks));
      auto const at = equal_hosts(static_cast<rank_t>(hosts), static_cast<rank_t>(size));
      fraction const folded(size * others, ranks);
      EXPECT_EQ(host_traffic(made, at).front(), (link_load{folded * 2, folded * 2}));
      EXPECT_EQ(host_traffic(made, at, fetched::once_per_host).front(),
                (link_load{folded + fraction(size * (hosts - 1), ranks), folded + fraction(others, ranks)}));
    }
}

TEST(LinkTraffic, OfTwoLevelsIsTheLeastWithAnyLeadersAndGrowsWithSavedSteps) {
  auto const traffic = [](std::string const& parameters) {
    return host_traffic(schedule_of("two_level(nodes=3+1+4+2" + parameters + ")", 10), {0, 0, 0, 1, 2, 2, 2, 2, 3, 3});
  };
  for (char const* const leaders : {",leaders=0", ",leaders=1", ",leaders=2"})
    for (char const* const radix : {",radix=2", ",radix=4"})
      EXPECT_EQ(traffic(std::string(leaders) + radix), std::vector(4, link_load{fraction(3, 2), fraction(3, 2)}));
  EXPECT_EQ(traffic(",saved_steps=2"), std::vector(4, link_load{2, 2}));          // recursive doubling
  EXPECT_EQ(traffic(",radix=4,saved_steps=1"), std::vector(4, link_load{3, 3}));  // everybody reads everything
}

TEST(LinkTraffic, OfHostsThatAreNotNumberedInRankOrderFollowsTheHosts) {
  auto const compact = host_traffic(schedule_of("ring", 4), {0, 0, 1, 1});
  auto const scattered = host_traffic(schedule_of("ring", 4), {0, 1, 0, 1});
  EXPECT_EQ(compact.front().in, fraction(3, 2));
  EXPECT_EQ(scattered.front().in, fraction(3));
}

// The tree's leaves are hosts; switch "left" has 0 and 2, "right" 1 and 3 and, one below, 4.
constexpr char const* three_switches =
    R"({"tree": {"top": ["left", "right"], "left": [0, 2], "right": [1, 3, "low"], "low": [4]}})";

// Below a switch: the hosts of which the tree says so.
std::set<rank_t> hosts_below(tree const& of, std::size_t node) {
  auto const below = leaves_below(of, node);
  return {below.begin(), below.end()};
}

link_load count_slowly(schedule const& s, std::vector<rank_t> const& hosts, std::set<rank_t> const& below,
                       fetched how) {
  link_load load;
  for (auto const& step : s.steps) {
    std::set<std::tuple<rank_t, slot_t, block_t, rank_t>> seen;
    for (assignment const& a : step)
      for (source const& from : s.from(a)) {
        rank_t const giver = hosts[from.rank], getter = hosts[a.rank];
        if (below.contains(giver) == below.contains(getter)) continue;
        rank_t const reader = how == fetched::once_per_host ? getter : a.rank;
        if (!seen.insert({from.rank, from.slot, a.block, reader}).second) continue;
        (below.contains(giver) ? load.out : load.in) += s.blocks[a.block].size;
      }
  }
  return load;
}

TEST(LinkTraffic, OfEverySwitchIsThatOfASlowCount) {
  auto const switches = switches_of(three_switches);
  std::vector<rank_t> const hosts{0, 0, 1, 2, 2, 2, 3, 4, 4, 0};  // one host in two pieces
  for (char const* const text :
       {"direct", "ring", "generalized(saved_steps=2)", "latency", "recursive_doubling", "two_level(nodes=2+1+3+1+3)",
        "two_level(nodes=2+1+3+1+3,leaders=0,saved_steps=3)", "binomial(radix=4)"})
    for (fetched const how : {fetched::by_each_rank, fetched::once_per_host}) {
      auto const made = schedule_of(text, 10);
      auto const loads = edge_traffic(made, hosts, switches, how);
      ASSERT_EQ(loads.size(), switches.nodes.size());
      EXPECT_EQ(loads[0], link_load{}) << "the root has no parent";
      for (std::size_t node = 1; node < loads.size(); ++node)
        EXPECT_EQ(loads[node], count_slowly(made, hosts, hosts_below(switches, node), how))
            << text << " at " << switches.nodes[node].name;
      auto const on_one_switch = host_traffic(made, hosts, how);
      for (rank_t h = 0; h < 5; ++h) EXPECT_EQ(loads[switches.leaf_of(h)], on_one_switch[h]) << text << " host " << h;
    }
}

// Patarasuk and Yuan, Lemma 1, as volume: the ring in depth-first order loads all edges alike.
TEST(LinkTraffic, OfATreeRingIsTheSameOnEveryEdge) {
  auto const switches = switches_of(three_switches);
  auto const loads = edge_traffic(tree_ring(switches), {0, 1, 2, 3, 4}, switches);
  for (std::size_t node = 1; node < loads.size(); ++node)
    EXPECT_EQ(loads[node], (link_load{fraction(8, 5), fraction(8, 5)})) << switches.nodes[node].name;
}

TEST(LinkTraffic, RefusesHostsOfOtherRanksAndHostsThatTheTreeLacks) {
  auto const made = schedule_of("ring", 4);
  EXPECT_THROW(host_traffic(made, {0, 1, 2}), schedule_error);
  EXPECT_THROW(edge_traffic(made, {0, 1, 2, 5}, switches_of(three_switches)), schedule_error);
}

}  // namespace
}  // namespace coset::schedule::testing
