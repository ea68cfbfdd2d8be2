// SPDX-License-Identifier: Apache-2.0
// Networks of shared links: ways, files, and times by hand, by the flat model and by a count that takes the definition
// word by word.
#include "command/shown/networks/network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "command/shown/networks/link_traffic.hpp"
#include "command/shown/selector.hpp"
#include "planning/schedule/model/cost.hpp"
#include "schedule/schedules.hpp"

namespace coset::schedule::testing {
namespace {

constexpr link_costs usual{0, 2};

network_file file_of(std::string const& text) {
  std::istringstream in(text);
  return parse_network(in, "test", usual);
}

network network_of(std::string const& text) { return file_of(text).links; }

std::vector<link_t> way(network const& of, rank_t from, rank_t to) {
  routes ways(of);
  std::vector<link_t> found;
  ways.append(from, to, found);
  return found;
}

/// The length of a way, without the links of both ranks.
std::size_t hops(network const& of, rank_t from, rank_t to) { return way(of, from, to).size() - 2; }

TEST(Network, WaysOnATorusAreAsLongAsTheRingsOfItsDimensionsSay) {
  std::vector<rank_t> const sizes{5, 4, 2};
  for (bool const torus : {true, false}) {
    auto const of = grid_network(sizes, torus, {});
    ASSERT_EQ(of.ranks(), 40u);
    for (rank_t a = 0; a < 40; ++a)
      for (rank_t b = 0; b < 40; ++b) {
        std::size_t expected = 0;
        for (rank_t left_a = a, left_b = b, d = 3; d-- > 0; left_a /= sizes[d], left_b /= sizes[d]) {
          rank_t const x = left_a % sizes[d], y = left_b % sizes[d], apart = std::max(x, y) - std::min(x, y);
          expected += torus ? std::min(apart, sizes[d] - apart) : apart;
        }
        ASSERT_EQ(hops(of, a, b), expected) << a << " to " << b;
      }
  }
}

TEST(Network, RingsOfTwoAreLines) {
  std::size_t const own = 2 * 6, between_two = 2 * 3,
                    between_three = 2 * 2;  // pairs in a row of two, and in one of three
  EXPECT_EQ(grid_network({2, 3}, false, {}).links().size(), own + between_two + 2 * between_three);
  EXPECT_EQ(grid_network({2, 3}, true, {}).links().size(), own + between_two + 2 * (between_three + 2));
}

TEST(Network, MessagesOnATorusGoOneDimensionAfterTheOther) {
  auto const of = network_of(R"({"torus": [4, 4]})");
  std::string names;
  for (link_t const l : way(of, 0, 10)) names += of.links()[l].name + "; ";
  EXPECT_EQ(names,
            "rank 0 -> (0,0); (0,0) -> (1,0); (1,0) -> (2,0); (2,0) -> (2,1); (2,1) -> (2,2); (2,2) -> rank 10; ");
}

TEST(Network, ADragonflyHasThreeLinksBetweenRoutersAtMostAndOneBetweenGroups) {
  for (dragonfly const shape : {dragonfly{9, 4, 2}, dragonfly{2, 1, 1}, dragonfly{3, 5, 1}, dragonfly{1, 3, 2}}) {
    auto const of = dragonfly_network(shape, {.ranks_per_host = 2});
    rank_t const in_group = shape.routers * shape.hosts * 2;
    ASSERT_EQ(of.ranks(), shape.groups * in_group);
    for (rank_t a = 0; a < of.ranks(); a += 2)  // up to the router, at most local, global and local, down to the host
      for (rank_t b = 0; b < of.ranks(); b += 2) {
        std::size_t const most = a / in_group == b / in_group ? 3 : 5;
        ASSERT_LE(hops(of, a, b), most) << a << " to " << b << " of " << shape.groups << " groups";
      }
    EXPECT_EQ(hops(of, 0, 1), 0u) << "ranks of one host";
  }
  // All that two groups exchange crosses their one link.
  auto const of = dragonfly_network({3, 2, 2}, {});
  std::set<link_t> common;
  for (rank_t a = 0; a < 4; ++a)
    for (rank_t b = 8; b < 12; ++b) {
      auto const found = way(of, a, b);
      std::set<link_t> const links(found.begin(), found.end());
      std::set<link_t> both;
      std::set_intersection(links.begin(), links.end(), common.begin(), common.end(), std::inserter(both, both.end()));
      common = a == 0 && b == 8 ? links : both;
    }
  EXPECT_EQ(common.size(), 1u);
}

TEST(Network, AGraphTakesTheShortestWayAndSaysWhereThereIsNone) {
  auto const of =
      network_of(R"({"graph": [["a", "b"], ["b", "c"], ["c", "d"], ["d", "a"]], "ranks": ["a", "c", "d"]})");
  EXPECT_EQ(hops(of, 0, 1), 2u);
  EXPECT_EQ(of.links()[way(of, 0, 1)[1]].name, "a -> b");  // as it comes first
  EXPECT_EQ(hops(of, 0, 2), 1u);
  EXPECT_THROW(way(network_of(R"({"graph": [["a", "b"]], "ranks": ["a", "c"]})"), 0, 1), schedule_error);
}

TEST(Network, OfTooManyPlacesHasNoWays) {
  EXPECT_EQ(hops(network_of(R"({"torus": [64, 128]})"), 0, 1), 1u);
  EXPECT_THROW(way(network_of(R"({"torus": [128, 128]})"), 0, 1), schedule_error);
}

TEST(Network, FilesGiveLinksTheirCosts) {
  auto const of = network_of(R"({"tree": {"top": ["left", 2], "left": [0, 1]}, "link": {"bandwidth": 4, "latency": 3},
                                 "rank": {"bandwidth": 8}, "links": {"2": {"bandwidth": 16}}})");
  std::map<std::string, std::pair<double, double>> costs;
  for (auto const& link : of.links()) costs[link.name] = {link.costs.latency, link.costs.per_byte};
  EXPECT_EQ(costs["left -> top"], std::pair(3.0, 0.25));
  EXPECT_EQ(costs["top -> left"], std::pair(3.0, 0.25));
  EXPECT_EQ(costs["rank 1 -> left"], std::pair(0.0, 0.125));
  EXPECT_EQ(costs["top -> rank 2"], std::pair(0.0, 0.0625));
  EXPECT_EQ(costs.size(), 8u);
  auto const fly = network_of(R"({"dragonfly": {"groups": 2, "routers": 1, "hosts": 1}, "global": {"bandwidth": 1}})");
  for (auto const& link : fly.links())
    EXPECT_EQ(link.costs.per_byte, link.name.find("g0.r0 -> g1") == 0 || link.name.find("g1.r0 -> g0.r0") == 0 ? 1 : 2)
        << link.name;
  EXPECT_TRUE(file_of(R"({"tree": {"a": [0]}})").switches);
  EXPECT_FALSE(file_of(R"({"torus": [2]})").switches);
}

TEST(Network, RefusesFilesThatAreNone) {
  for (char const* const text : {"",
                                 "[]",
                                 "{}",
                                 R"({"torus": []})",
                                 R"({"torus": [0]})",
                                 R"({"torus": [-1]})",
                                 R"({"torus": [70000]})",
                                 R"({"torus": [300, 300]})",
                                 R"({"torus": [1, 1, 1, 1, 1, 1, 1, 1, 1]})",
                                 R"({"torus": 4})",
                                 R"({"torus": [4], "speed": 1})",
                                 R"({"torus": [4], "link": 1})",
                                 R"({"torus": [4], "link": {"bandwidth": 0}})",
                                 R"({"torus": [4], "link": {"bandwidth": "1"}})",
                                 R"({"torus": [4], "link": {"latency": -1}})",
                                 R"({"torus": [4], "link": {"speed": 1}})",
                                 R"({"torus": [4], "ranks_per_host": 0})",
                                 R"({"dragonfly": 1})",
                                 R"({"dragonfly": {"groups": 2, "routers": 1}})",
                                 R"({"dragonfly": {"groups": 1, "routers": 60000, "hosts": 1}})",
                                 R"({"graph": [["a", "b"]]})",
                                 R"({"graph": [["a"]], "ranks": ["a"]})",
                                 R"({"graph": [], "ranks": []})",
                                 R"({"graph": [], "ranks": [1]})",
                                 R"({"tree": {"a": [0]}, "links": {"b": {}}})",
                                 R"({"tree": {"a": [0]}, "links": {"a": {}}})",
                                 R"({"tree": {"a": [0]}, "links": []})",
                                 R"({"tree": {"a": [1]}})",
                                 R"({"tree": {"a\u001b[2J": [0]}})",
                                 R"({"graph": [["a", "b\n"]], "ranks": ["a"]})",
                                 R"({"graph": [], "ranks": ["\u007f"]})",
                                 R"({"torus": [4], "link": {"latency": 1e308}})"})
    EXPECT_THROW(file_of(text), schedule_error) << text;
  EXPECT_THROW(read_network("/nowhere.json", usual), schedule_error);
}

TEST(Network, NodesAreTheConsecutiveRanksOfAPlace) {
  EXPECT_EQ(network_of_nodes({3, 1, 2}, {}, {}).ranks_by_place(6), (std::vector<rank_t>{3, 1, 2}));
  EXPECT_EQ(network_of_nodes({3, 1, 2}, {}, {}).ranks_by_place(5), (std::vector<rank_t>{3, 1, 1}));
  EXPECT_EQ(network_of(R"({"tree": {"t": ["a", "b"], "a": [0, 2], "b": [1]}})").ranks_by_place(3),
            std::vector<rank_t>{});
}

TEST(Network, OfHostsIsThatOfTheFirstRankOfEachPlace) {
  auto const of = network_of(R"({"tree": {"t": ["a", "b", 3], "a": [0, 4], "b": [1, 2]}, "rank": {"bandwidth": 100},
                                 "links": {"a": {"bandwidth": 1}}})");
  auto const hosts = of.with_one_rank_a_place();
  ASSERT_EQ(hosts.ranks(), 3u);
  for (auto const& [host, rank] : {std::pair{0u, 0u}, {1u, 1u}, {2u, 3u}}) {
    EXPECT_EQ(hosts.place_of(host), of.place_of(rank));
    EXPECT_EQ(hosts.link_out_of(host), of.link_out_of(rank));
  }
  // Both others read from host 0 over the link of "a", a byte a second.
  counts const found(testing::schedule_of("direct(saved_steps=1)", 3, verb::broadcast), routes(hosts));
  EXPECT_DOUBLE_EQ(found.priced(100).transfer, 200);
}

// Nothing is shared but a rank's own two links: of every algorithm and verb, whoever sends most or receives most.
TEST(SharedLinks, OnOneSwitchAreTheFlatModel) {
  cost_model const flat = cost_model::flat(5, 2, 3);
  std::size_t compared = 0;
  for (rank_t const ranks : {2u, 7u, 8u, 12u}) {
    auto const star = network_of_nodes(std::vector<rank_t>{ranks}, {}, {0, 2});
    routes const ways(star, {5, 3});
    for (verb const what : all_verbs()) {
      if (!has_schedules(what)) continue;
      demand wanted{.verb = what, .ranks = ranks, .root = ranks / 2, .same_bits = false, .idempotent = true};
      if (ranks == 12) wanted.nodes = {5, 4, 3};
      for (algorithm const& how : candidates_for(wanted, flat)) {
        if (!serves(how, wanted)) continue;
        auto const made = make(how, ranks, what, wanted.root);
        double const seconds = counts(made, flat).seconds(100);
        EXPECT_NEAR(counts(made, ways).seconds(100), seconds, 1e-9 * seconds)
            << how.text() << " of " << name_of(what) << " on " << ranks;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 800u);
}

// A root that all read from sends to all; where they read a line each fetches it by itself.
TEST(SharedLinks, WhoSendsTheSameToManyPaysForAll) {
  auto const made = testing::schedule_of("direct(saved_steps=1)", 64, verb::broadcast);
  cost_model model = cost_model::flat(0, 1, 0);
  EXPECT_DOUBLE_EQ(counts(made, model).seconds(100), 6300);
  model.links.front().fan_out = 0.5;
  EXPECT_DOUBLE_EQ(counts(made, model).seconds(100), 3150);
  model.links.front().fan_out = 0;
  EXPECT_DOUBLE_EQ(counts(made, model).seconds(100), 100);
  // Of four nodes, what leaves that of the root over its link is what all others get.
  model.links = {{16, 0, 0}, {UINT32_MAX, 0, 0, 0, 1, 1}};
  EXPECT_DOUBLE_EQ(counts(made, model).seconds(100), 4800);
}

// What enters a node is what leaves another, where all nodes do the same: one model, in levels and in links.
TEST(SharedLinks, OfEqualNodesAreTheSharedLevelOfTheModelThatChooses) {
  cost_model levels;
  levels.links = {{3, 0, 0.25}, {UINT32_MAX, 0, 0.25, 0, 2}};
  levels.peers_per_latency = UINT32_MAX;
  auto const nodes = network_of_nodes({3, 3, 3, 3}, {0, 2}, {0, 0});
  auto const inside = network_of_nodes({3, 3, 3, 3}, {0, 0}, {0, 0.25});
  for (char const* const text :
       {"product(dims=3x4)", "product(dims=3x2x2)", "direct", "two_level(nodes=3+3+3+3,leaders=0)",
        "unequal(nodes=3+3+3+3)", "generalized(radix=4)", "latency"}) {
    auto const made = schedule_of(text, 12);
    counts const between(made, routes(nodes)), own(made, routes(inside));
    double const by_levels = counts(made, levels).priced(100).transfer;
    EXPECT_GE(by_levels, between.priced(100).transfer - 1e-9) << text;
    EXPECT_LE(by_levels, between.priced(100).transfer + own.priced(100).transfer + 1e-9) << text;
    levels.links[0].per_byte = levels.links[1].per_byte = 0;
    EXPECT_NEAR(counts(made, levels).priced(100).transfer, between.priced(100).transfer, 1e-9) << text;
    levels.links[0].per_byte = levels.links[1].per_byte = 0.25;
  }
}

TEST(SharedLinks, MessagesOfOneStepShareWhatTheyCross) {
  // Pairs 0 1 and 2 3; first inside, then both across at once: 100 bytes twice over a link of 4 s a byte.
  auto const pairs = network_of_nodes({2, 2}, {10, 4}, {1, 2});
  routes const ways(pairs, {5, 3});
  auto const made = schedule_of("recursive_doubling", 4);
  counts const doubling(made, ways);
  EXPECT_DOUBLE_EQ(doubling.priced(100).transfer, 100 * 2 + 200 * 4);
  EXPECT_DOUBLE_EQ(counts(made, ways, sharing::nothing).priced(100).transfer, 100 * 2 + 100 * 4);
  EXPECT_DOUBLE_EQ(doubling.priced(100).latency, 2 + (1 + 10 + 10 + 1));
  EXPECT_DOUBLE_EQ(doubling.priced(100).peers, 5 + 5);
  EXPECT_DOUBLE_EQ(doubling.priced(100).combine, 2 * 300);
  EXPECT_EQ(doubling.busiest().most_messages, 2u);
  EXPECT_EQ(doubling.busiest().volume, fraction(2));
  EXPECT_EQ(doubling.busiest().name, "node 0 -> switch");
  // Opposite directions do not share.
  counts const ring(schedule_of("ring", 4), ways);
  EXPECT_DOUBLE_EQ(ring.priced(100).transfer, 6 * 25 * 4);
  EXPECT_EQ(ring.busiest().most_messages, 1u);
}

// A message over a slow link without latency, and one over a link of much latency that is never busy.
TEST(SharedLinks, AMessageWaitsForItsOwnWayOnly) {
  auto const of = network_of(R"({"graph": [["y", "x", {"bandwidth": 1, "latency": 0}],
                                           ["y", "z", {"bandwidth": 100, "latency": 50}]],
                                 "ranks": ["y", "x", "z"], "rank": {"bandwidth": 1000}})");
  routes const ways(of);
  auto const made = testing::schedule_of("direct(saved_steps=1)", 3, verb::reduce);
  counts const found(made, ways);
  EXPECT_DOUBLE_EQ(found.priced(100).total(), 100);  // that of x, after 100; that of z, after 50 + 1
  EXPECT_DOUBLE_EQ(found.priced(10).total(), 50 + 0.1);
  EXPECT_DOUBLE_EQ(counts(made, ways, sharing::nothing).seconds(100), 100);
}

TEST(SharedLinks, AreTheSameWithWaysThatSchedulesShare) {
  auto const of = network_of(R"({"torus": [3, 4]})");
  routes const ways(of);
  for (char const* const text : {"ring", "direct", "generalized(saved_steps=1)", "ring"}) {
    auto const made = schedule_of(text, 12);
    EXPECT_EQ(counts(made, ways).seconds(100), counts(made, routes(of)).seconds(100)) << text;
    EXPECT_EQ(counts(made, ways).busiest().name, counts(made, routes(of)).busiest().name) << text;
  }
}

TEST(SharedLinks, RefusesMoreRanksThanTheNetworkHas) {
  EXPECT_THROW(counts(schedule_of("ring", 5), routes(network_of_nodes({2, 2}, {}, {}))), schedule_error);
  EXPECT_NO_THROW(counts(schedule_of("ring", 3), routes(network_of_nodes({2, 2}, {}, {}))));
}

/// The time of all messages by the definition: for each step and reader, over all edges of its messages, all bytes there.
double slow_transfer(schedule const& s, tree const& of, std::vector<link_costs> const& costs) {
  double total = 0;
  for (auto const& step : s.steps) {
    std::map<directed_edge, double> load;
    std::map<rank_t, std::set<directed_edge>> crossed;
    std::set<std::tuple<rank_t, rank_t, block_t, slot_t>> seen;
    for (assignment const& a : step)
      for (source const& from : s.from(a)) {
        if (from.rank == a.rank || !seen.insert({a.rank, from.rank, a.block, from.slot}).second) continue;
        for (directed_edge const& edge : route(of, of.leaf_of(from.rank), of.leaf_of(a.rank))) {
          load[edge] += s.blocks[a.block].size.value();
          crossed[a.rank].insert(edge);
        }
      }
    double slowest = 0;
    for (auto const& [rank, edges] : crossed)
      for (directed_edge const& edge : edges) slowest = std::max(slowest, load[edge] * costs[edge.node].per_byte);
    total += slowest;
  }
  return total;
}

TEST(SharedLinks, OfEveryAlgorithmAreThoseOfASlowCount) {
  std::istringstream text(
      R"({"tree": {"top": ["left", "right"], "left": [0, 2, 7], "right": [1, 3, "low"], "low": [4, 5, 6, 8, 9]}})");
  auto const switches = parse_tree(text, "test");
  std::vector<link_costs> costs;
  for (std::size_t n = 0; n < switches.nodes.size(); ++n) costs.push_back({0, 1.0 + static_cast<double>(n * 7 % 5)});
  auto const links = coset::schedule::network_of(switches, costs);
  for (char const* const name :
       {"direct", "ring", "generalized(saved_steps=2)", "latency", "recursive_doubling", "two_level(nodes=2+1+3+1+3)",
        "binomial(radix=4)", "unequal(nodes=3+7)", "flexreduce(nodes=3+3+4)"}) {
    auto const made = schedule_of(name, 10);
    counts const found(made, routes(links));
    EXPECT_NEAR(found.priced(60).transfer, 60 * slow_transfer(made, switches, costs), 1e-6) << name;
    double busiest = 0;
    auto const all = edge_traffic(made, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, switches);
    for (std::size_t n = 0; n < all.size(); ++n)
      busiest = std::max({busiest, all[n].in.value() * costs[n].per_byte, all[n].out.value() * costs[n].per_byte});
    auto const at = std::ranges::find(links.links(), found.busiest().name, &shared_link::name);
    ASSERT_NE(at, links.links().end());
    EXPECT_NEAR(found.busiest().volume.value() * at->costs.per_byte, busiest, 1e-9) << name;
    EXPECT_EQ(found.busiest().most_messages, busiest_edge(made, switches)) << name;
  }
}

TEST(FlexReduce, PutsLessOnAHostsLinkThanTheRing) {
  for (std::vector<rank_t> const& hosts : std::vector<std::vector<rank_t>>{{2, 2}, {3, 2}, {4, 3}, {4, 4}, {4, 4, 3}}) {
    auto const links = network_of_nodes(hosts, {0, 1}, {0, 0.01});
    auto const count = static_cast<std::int64_t>(hosts.size()), ranks = std::int64_t{links.ranks()};
    auto const flex = schedule_of("flexreduce(nodes=" + text_of(hosts) + ")", links.ranks());
    EXPECT_EQ(counts(schedule_of("ring", links.ranks()), routes(links)).busiest().volume,
              fraction(2 * (ranks - 1), ranks));
    if (hosts.front() == hosts.back())
      EXPECT_EQ(counts(flex, routes(links)).busiest().volume, fraction(2 * (count - 1), count));
    else
      EXPECT_LT(counts(flex, routes(links)).busiest().volume, fraction(2 * (ranks - 1), ranks));
  }
}

}  // namespace
}  // namespace coset::schedule::testing
