// SPDX-License-Identifier: Apache-2.0
// Schedules over nodes and trees: right for random ones, at the cost that their sources state.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "command/shown/networks/link_traffic.hpp"
#include "planning/schedule/algorithms/flexreduce.hpp"
#include "planning/schedule/composed/nodes.hpp"
#include "schedule/effort.hpp"
#include "schedule/schedules.hpp"

namespace coset::schedule::testing {
namespace {

constexpr unsigned seed = 20240229;

rank_t sum(std::vector<rank_t> const& nodes) { return std::accumulate(nodes.begin(), nodes.end(), rank_t{0}); }

std::vector<rank_t> random_nodes(std::mt19937& random) {
  std::vector<rank_t> nodes(std::uniform_int_distribution<std::size_t>(1, 8)(random));
  for (rank_t& size : nodes) size = std::uniform_int_distribution<rank_t>(1, 8)(random);
  return nodes;
}

// Every new leaf or switch hangs under a random switch; empty switches get a leaf. Ranks are numbered at random.
tree random_tree(std::mt19937& random) {
  std::vector<std::vector<std::size_t>> children(1);
  std::size_t const switches = std::uniform_int_distribution<std::size_t>(1, 8)(random);
  while (children.size() < switches) {
    std::size_t const parent = random() % children.size();
    children[parent].push_back(children.size());
    children.emplace_back();
  }
  std::vector<std::size_t> homes(std::uniform_int_distribution<std::size_t>(1, 40)(random));
  for (std::size_t& home : homes) home = random() % switches;
  for (std::size_t s = 0; s < switches; ++s)
    if (children[s].empty()) homes.push_back(s);
  std::shuffle(homes.begin(), homes.end(), random);

  std::string text = R"({"tree": {)";
  for (std::size_t s = 0; s < switches; ++s) {
    std::string list;
    for (std::size_t const c : children[s]) list += (list.empty() ? "" : ",") + ("\"s" + std::to_string(c) + "\"");
    for (std::size_t r = 0; r < homes.size(); ++r)
      if (homes[r] == s) list += (list.empty() ? "" : ",") + std::to_string(r);
    text += (s == 0 ? "\"s" : ",\"s") + std::to_string(s) + "\": [" + list + "]";
  }
  std::istringstream file(text + "}}");
  return parse_tree(file, "random tree");
}

// What a node's ranks read from other nodes, in vectors: the largest over the nodes.
fraction largest_inflow(schedule const& made, std::vector<rank_t> const& nodes) {
  std::vector<std::size_t> node_of;
  for (std::size_t n = 0; n < nodes.size(); ++n) node_of.insert(node_of.end(), nodes[n], n);
  std::vector<fraction> inflow(nodes.size());
  for (auto const& step : made.steps)
    for (assignment const& a : step)
      for (source const& s : made.from(a))
        if (node_of[s.rank] != node_of[a.rank]) inflow[node_of[a.rank]] += made.blocks[a.block].size;
  return *std::max_element(inflow.begin(), inflow.end());
}

TEST(Hierarchy, EveryCompositionIsRightForRandomNodes) {
  std::mt19937 random(seed);
  for (int i = 0; i < by_effort(20, 200, 1000); ++i) {
    auto const nodes = random_nodes(random);
    for (std::string const name :
         {"leaders", "smp_rdb", "smp_binomial", "unequal", "two_level", "flexreduce", "tree_ring"}) {
      auto const found = validate(schedule_of(name + "(nodes=" + text_of(nodes) + ")", sum(nodes)));
      EXPECT_TRUE(found.rank_uniform) << name << ' ' << text_of(nodes) << " seed " << seed;
    }
  }
}

TEST(Leaders, TakeTheRoundsOfTheTallestNodeAndThoseBetween) {
  std::mt19937 random(seed);
  for (int i = 0; i < by_effort(20, 200, 1000); ++i) {
    auto const nodes = random_nodes(random);
    auto const j = static_cast<rank_t>(nodes.size());
    std::uint32_t const inside = 2 * ceil_log(*std::max_element(nodes.begin(), nodes.end()));
    for (std::string const name : {"binomial", "generalized", "recursive_doubling"}) {
      auto const found =
          validate(schedule_of("leaders(between=" + name + ",nodes=" + text_of(nodes) + ")", sum(nodes)));
      EXPECT_EQ(found.steps, inside + validate(schedule_of(name, j)).steps) << text_of(nodes);
    }
    EXPECT_TRUE(validate(schedule_of("smp_binomial(nodes=" + text_of(nodes) + ")", sum(nodes))).ordered);
  }
}

TEST(SmpBinomial, ServesEveryVerbInSegmentsThatFollowEachOtherStepByStep) {
  std::mt19937 random(seed);
  for (int i = 0; i < by_effort(5, 50, 200); ++i) {
    auto const nodes = random_nodes(random);
    auto const whole = schedule_of("smp_binomial(nodes=" + text_of(nodes) + ")", sum(nodes));
    for (std::uint32_t const segments : {2u, 3u, 8u}) {
      auto const name = "smp_binomial(nodes=" + text_of(nodes) + ",segments=" + std::to_string(segments) + ")";
      for (verb const what : find_algorithm("smp_binomial").verbs)
        EXPECT_NO_THROW(validate(schedule_of(name, sum(nodes), what))) << name << ' ' << name_of(what);
      auto const made = schedule_of(name, sum(nodes));
      auto const found = validate(made), once = validate(whole);
      EXPECT_EQ(found.steps, once.steps == 0 ? 0 : once.steps + segments - 1) << name;
      EXPECT_EQ(found.received_max, once.received_max) << name;
      EXPECT_TRUE(found.ordered && found.rank_uniform) << name;
      EXPECT_EQ(made.blocks.size(), segments);
    }
  }
}

TEST(SmpBinomial, SendsTheSecondSegmentOnceTheFirstIsOnItsWay) {
  auto const made = schedule_of("smp_binomial(nodes=2+2,segments=2)", 4);
  std::vector<std::string> reads;  // rank: from, of which segment
  for (auto const& step : made.steps) {
    std::string text;
    for (assignment const& a : step)
      for (source const& from : made.from(a))
        if (from.rank != a.rank)
          text += std::to_string(a.rank) + ':' + std::to_string(from.rank) + '.' + std::to_string(a.block) + ' ';
    reads.push_back(text);
  }
  EXPECT_EQ(reads, (std::vector<std::string>{"0:1.0 2:3.0 ", "0:2.0 0:1.1 2:3.1 ", "2:0.0 0:2.1 ", "1:0.0 3:2.0 2:0.1 ",
                                             "1:0.1 3:2.1 "}));
}

TEST(Unequal, ReachesTheLowerBoundOnEveryNodesLink) {
  std::mt19937 random(seed);
  for (int i = 0; i < by_effort(20, 200, 1000); ++i) {
    auto const nodes = random_nodes(random);
    auto const j = static_cast<std::int64_t>(nodes.size());
    std::int64_t const largest = *std::max_element(nodes.begin(), nodes.end());
    std::int64_t const smallest = *std::min_element(nodes.begin(), nodes.end());
    std::uint32_t const between = ceil_log(static_cast<rank_t>(j));
    for (std::uint32_t saved = 0; saved <= between; ++saved) {
      auto const made =
          schedule_of("unequal(saved_steps=" + std::to_string(saved) + ",nodes=" + text_of(nodes) + ")", sum(nodes));
      auto const found = validate(made);
      EXPECT_EQ(found.steps, 2 * ceil_log(static_cast<rank_t>(largest)) + 2 * between - saved) << text_of(nodes);
      if (saved > 0) continue;
      EXPECT_EQ(largest_inflow(made, nodes), fraction(2 * (j - 1), j)) << text_of(nodes);
      if (largest == smallest) {
        EXPECT_EQ(found.received_max, fraction(2 * (largest - 1), largest) + fraction(2 * (j - 1), j * largest));
      }
    }
  }
}

TEST(FlexReduce, IsRightForRandomTreesInOneRoundPerLevelEachWay) {
  std::mt19937 random(seed);
  for (int i = 0; i < by_effort(20, 200, 1000); ++i) {
    auto const of = random_tree(random);
    std::set<std::size_t> branching;  // depths with work to do
    for (tree_node const& node : of.nodes)
      if (node.children.size() > 1) branching.insert(node.depth);
    auto const found = validate(flexreduce(of));
    EXPECT_EQ(found.steps, 2 * branching.size()) << "seed " << seed << " tree " << i;
    EXPECT_TRUE(found.rank_uniform);
  }
}

// The number of blocks of 1/12 that a rank assigns in a step.
std::int64_t twelfths(schedule const& made, std::size_t step, rank_t rank) {
  fraction share = 0;
  for (assignment const& a : made.steps.at(step))
    if (a.rank == rank) share += made.blocks[a.block].size;
  return (share * 12).floor();
}

// Lee et al., Fig. 2: nodes of 2 and 3 learners, 12 items.
TEST(FlexReduceFig2, TwoAndThreeLearnersShareTwelveItems) {
  auto const made = flexreduce(two_level_tree({2, 3}));
  std::vector<std::int64_t> leaves, root;
  for (rank_t r = 0; r < 5; ++r) {
    leaves.push_back(twelfths(made, 0, r));
    root.push_back(twelfths(made, 1, r));
  }
  EXPECT_EQ(leaves, (std::vector<std::int64_t>{6, 6, 4, 4, 4}));
  EXPECT_EQ(root, (std::vector<std::int64_t>{3, 3, 2, 2, 2}));
}

// Lee et al. assume it is; nodes of 1 and 3 learners are the smallest case where it cannot be.
TEST(FlexReduce, TheOwnerOfAPieceNeedNotBeOneOfItsHolders) {
  auto const stranger_owns = [](std::vector<rank_t> const& nodes) {
    auto const made = flexreduce(two_level_tree(nodes));
    return std::ranges::any_of(made.steps[1], [&](assignment const& a) {
      auto const from = made.from(a);
      return std::ranges::none_of(from, [&](source const& s) { return s.rank == a.rank; });
    });
  };
  EXPECT_FALSE(stranger_owns({2, 3}));
  EXPECT_FALSE(stranger_owns({1, 2}));
  EXPECT_TRUE(stranger_owns({1, 3}));
}

// Patarasuk and Yuan, Lemma 1: the ring crosses every edge at most once per direction and round.
TEST(PatarasukYuanLemma1, TheTreeRingNeverMeetsItselfOnAnEdge) {
  std::mt19937 random(seed);
  for (int i = 0; i < by_effort(20, 200, 1000); ++i) {
    auto const of = random_tree(random);
    auto const made = tree_ring(of);
    auto const found = validate(made);
    EXPECT_EQ(found.steps, 2 * (of.ranks - 1));
    EXPECT_EQ(found.sent_max, fraction(2 * (std::int64_t{of.ranks} - 1), of.ranks));
    EXPECT_EQ(busiest_edge(made, of), of.ranks > 1 ? 1u : 0u) << "seed " << seed << " tree " << i;
  }
}

TEST(Tree, RingsInRankOrderContendWhereRanksAreScattered) {
  std::istringstream file(R"({"tree": {"top": ["left", "right"], "left": [0, 2, 4], "right": [1, 3, 5]}})");
  auto const of = parse_tree(file, "test");
  EXPECT_EQ(ring_order(of), (std::vector<rank_t>{0, 2, 4, 1, 3, 5}));
  EXPECT_EQ(busiest_edge(schedule_of("ring", 6), of), 3u);
}

TEST(Tree, MachinesStandAlongItInTheOrderOfTheRing) {
  std::istringstream file(R"({"tree": {"top": ["left", "right", "z"], "left": ["b", "a"], "right": ["c", 6],
                             "a": [0, 3], "b": [2], "c": [1, 4], "z": [5]}})");
  auto const of = parse_tree(file, "test");
  EXPECT_EQ(machines_along(of), (std::vector<std::string>{"b", "a", "right", "c", "z"}));
  EXPECT_EQ(ring_order(of), (std::vector<rank_t>{2, 0, 3, 6, 1, 4, 5}));
  EXPECT_EQ(machines_along(two_level_tree({2, 1, 3})), (std::vector<std::string>{"node0", "node1", "node2"}));
}

TEST(Tree, GroupsMachinesByEqualSwitches) {
  std::istringstream file(R"({"tree": {"top": ["left", "right"], "left": ["a", "b", "c"], "right": ["more"],
                             "more": ["d", "e", "f"], "a": [0], "b": [1], "c": [2], "d": [3], "e": [4], "f": [5, 6]}})");
  auto const of = parse_tree(file, "test");
  using names = std::vector<std::string>;
  using sizes = std::vector<rank_t>;
  EXPECT_EQ(groups_along(of, names{"a", "b", "c", "d", "e", "f"}), (sizes{3, 2}));
  EXPECT_EQ(groups_along(of, names{"f", "a", "d", "c"}), (sizes{2, 2})) << "whatever their order";
  EXPECT_EQ(groups_along(of, names{"a", "e"}), sizes{2});
  EXPECT_EQ(groups_along(of, names{"b", "c"}), sizes{2});
  EXPECT_EQ(groups_along(of, names{"a", "b", "d"}), sizes{}) << "two and one";
  EXPECT_EQ(groups_along(of, names{"a", "elsewhere"}), sizes{});
}

// Patarasuk and Yuan's Lemma 1 for machines: the way from each to the next, all at once.
TEST(Tree, ARingOverTheMachinesAlongItMeetsEveryEdgeOnceInEachDirection) {
  std::mt19937 random(seed);
  for (int i = 0; i < by_effort(20, 200, 1000); ++i) {
    auto const of = random_tree(random);
    auto const names = machines_along(of);
    std::set<directed_edge> met;
    for (std::size_t m = 0; m < names.size(); ++m) {
      auto const node = [&](std::size_t number) {
        auto const found = std::ranges::find(of.nodes, names[number % names.size()], &tree_node::name);
        return static_cast<std::size_t>(found - of.nodes.begin());
      };
      for (directed_edge const& edge : route(of, node(m), node(m + 1)))
        EXPECT_TRUE(met.insert(edge).second) << "seed " << seed << " tree " << i;
    }
  }
}

TEST(Tree, AFileThatIsNoTreeIsRefusedWithTheReason) {
  struct bad {
    char const* text;
    char const* reason;
  };
  for (auto const& [text, reason] : std::vector<bad>{
           {R"({"tree": {"a": ["b"], "b": ["a", 0]}})", "cycle"},
           {R"({"tree": {"a": [0], "b": ["c"], "c": ["b"]}})", "cycle"},
           {R"({"tree": {"a": [0, 1], "b": [2]}})", "not connected"},
           {R"({"tree": {"a": [0, 2]}})", "rank 1 is not connected"},
           {R"({"tree": {"a": [0, 0]}})", "two parents"},
           {R"({"tree": {"a": ["b", "c"], "b": ["d", 0], "c": ["d", 1], "d": [2]}})", "two parents"},
           {R"({"tree": {"a": ["b"]}})", "neither a node"},
           {R"({"tree": {"a": [-1]}})", "neither a node"},
           {R"({"tree": {"a": []}})", "needs a list"},
           {R"({"tree": {}})", "not a tree file"},
           {"[1, 2", "not a tree file"},
       }) {
    std::istringstream file(text);
    try {
      parse_tree(file, "test");
      ADD_FAILURE() << text << " was taken for a tree";
    } catch (schedule_error const& refused) {
      EXPECT_NE(std::string(refused.what()).find(reason), std::string::npos) << text << " gave: " << refused.what();
    }
  }
  EXPECT_THROW(read_tree("/nowhere/tree.json"), schedule_error);
  EXPECT_THROW(read_tree("/"), schedule_error);
}

TEST(Tree, DepthOfAFileIsNoDepthOfTheStack) {
  std::size_t const deep = 200'000;
  std::istringstream lists(R"({"tree": {"a": [)" + std::string(deep, '[') + std::string(deep, ']') + "]}}");
  EXPECT_THROW(parse_tree(lists, "test"), schedule_error);
  std::string path = R"({"tree": {"n0": [0])";
  for (std::size_t n = 1; n < deep; ++n)
    path += ",\"n" + std::to_string(n) + "\": [\"n" + std::to_string(n - 1) + "\"]";
  std::istringstream nodes(path + "}}");
  EXPECT_THROW(parse_tree(nodes, "test"), schedule_error);
}

TEST(Hierarchy, NodesThatDoNotAddUpAreRefused) {
  EXPECT_THROW(schedule_of("unequal(nodes=5+2)", 8), schedule_error);
  EXPECT_THROW(schedule_of("leaders(nodes=4+0+4)", 8), schedule_error);
  EXPECT_THROW(schedule_of("flexreduce", 8), schedule_error);
  EXPECT_THROW(schedule_of("unequal(nodes=4+4,saved_steps=2)", 8), schedule_error);
}

}  // namespace
}  // namespace coset::schedule::testing
