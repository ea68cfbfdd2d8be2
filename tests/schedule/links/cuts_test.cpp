// SPDX-License-Identifier: Apache-2.0
// Bounds by cuts: by hand, by the verbs' definitions, and held against the price of every schedule.
#include "command/shown/networks/cuts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <sstream>

#include "planning/schedule/core/required.hpp"
#include "planning/schedule/model/cost.hpp"
#include "planning/schedule/model/demand.hpp"
#include "schedule/effort.hpp"
#include "schedule/schedules.hpp"

namespace coset::schedule::testing {
namespace {

network network_of(std::string const& text) {
  std::istringstream in(text);
  return parse_network(in, "test", {0, 2}).links;
}

/// Four ranks on each of two switches, joined by a link that takes a tenth of a second for what a rank's takes a hundredth.
network two_switches() {
  return network_of(R"({"tree": {"left": ["right", 0, 1, 2, 3], "right": [4, 5, 6, 7]},
                        "link": {"bandwidth": 10, "latency": 3}, "rank": {"bandwidth": 100}})");
}

cut binding_of(network const& of, verb what, double bytes, rank_t root = 0, rank_costs const& costs = {}) {
  return binding(cuts_of(of, costs, {.verb = what, .ranks = of.ranks(), .root = root}), bytes);
}

TEST(Cuts, OfTwoSwitchesIsTheThinLinkBetween) {
  auto const of = two_switches();
  struct expected {
    verb what;
    rank_t root;
    char const* link;
    fraction crosses;
  };
  for (expected const& e : std::initializer_list<expected>{{verb::allreduce, 0, "right -> left", 1},
                                                           {verb::reduce, 0, "right -> left", 1},
                                                           {verb::reduce, 5, "left -> right", 1},
                                                           {verb::broadcast, 5, "right -> left", 1},
                                                           {verb::broadcast, 0, "left -> right", 1},
                                                           {verb::reduce_scatter, 0, "right -> left", {1, 2}},
                                                           {verb::allgather, 0, "right -> left", {1, 2}},
                                                           {verb::gather, 0, "right -> left", {1, 2}},
                                                           {verb::scatter, 0, "left -> right", {1, 2}},
                                                           {verb::all_to_all, 0, "right -> left", 2},
                                                           {verb::scan, 0, "left -> right", 1},
                                                           {verb::exclusive_scan, 0, "left -> right", 1}}) {
    cut const found = binding_of(of, e.what, 1000, e.root);
    bool const both = !detail::is_rooted(e.what) && !detail::is_scan(e.what);
    EXPECT_TRUE(found.name == e.link || (both && found.name == "left -> right"))
        << name_of(e.what) << ": " << found.name;
    EXPECT_EQ(found.crosses, e.crosses) << name_of(e.what);
    EXPECT_DOUBLE_EQ(found.seconds(1000), 3 + e.crosses.value() * 1000 / 10) << name_of(e.what);
  }
  EXPECT_DOUBLE_EQ(binding_of(of, verb::barrier, 1000).seconds(1000), 0);
}

// [PY], Lemma 3: eight ranks, each with a link of one byte a second.
TEST(Cuts, OfOneSwitchAreTheBusiestRanksBytes) {
  auto const star = network_of(R"({"tree": {"top": [0, 1, 2, 3, 4, 5, 6, 7]}, "rank": {"bandwidth": 1}})");
  cut const found = binding_of(star, verb::allreduce, 80, 0, {.per_message = 5});
  EXPECT_EQ(found.name, "all ranks");
  EXPECT_EQ(found.crosses, fraction(14));
  EXPECT_DOUBLE_EQ(found.seconds(80), 5 + 2 * 70);
  routes const ways(star);
  EXPECT_DOUBLE_EQ(counts(schedule_of("ring", 8), ways).seconds(80), binding_of(star, verb::allreduce, 80).seconds(80));
}

TEST(Cuts, OfShortVectorsAreTheMessagesThatComeOneAfterTheOther) {
  cut const found = binding_of(two_switches(), verb::allreduce, 1, 0, {.per_message = 5});
  EXPECT_EQ(found.name, "latency");
  EXPECT_DOUBLE_EQ(found.seconds(1), 15);
}

// Three hosts in a chain by links of 10, of which the one in the middle passes everything on.
TEST(Cuts, OfHostsCountWhatEntersThemTogether) {
  auto const chain = network_of(R"({"graph": [["a", "b"], ["b", "c"]], "ranks": ["a", "a", "b", "b", "c", "c"],
                                    "link": {"bandwidth": 10}, "rank": {"bandwidth": 1000}})");
  auto const cuts = cuts_of(chain, {}, {.ranks = 6});
  auto const hosts = std::ranges::find(cuts, "all hosts", &cut::name);
  ASSERT_NE(hosts, cuts.end());
  EXPECT_EQ(hosts->crosses, fraction(4));
  EXPECT_DOUBLE_EQ(hosts->per_byte, 4.0 / 40);
  EXPECT_DOUBLE_EQ(binding(cuts, 1).per_byte, 1.0 / 10);
  auto const into_b = std::ranges::find(cuts, "into b", &cut::name);
  ASSERT_NE(into_b, cuts.end());
  EXPECT_DOUBLE_EQ(into_b->per_byte, 1.0 / 20);
}

TEST(Cuts, OfATorusGoThroughItsMiddle) {
  auto const torus = network_of(R"({"torus": [8, 4], "link": {"bandwidth": 1}, "rank": {"bandwidth": 1000}})");
  cut const found = binding_of(torus, verb::all_to_all, 1);
  EXPECT_EQ(found.name, "out of (0,0) and 15 more");
  EXPECT_EQ(found.crosses, fraction(16 * 16, 32));
  EXPECT_DOUBLE_EQ(found.per_byte, 8.0 / 8);  // rows of four, cut twice
}

TEST(Cuts, AreOfTheRanksThatTakePart) {
  auto const of = two_switches();
  EXPECT_EQ(binding(cuts_of(of, {}, {.ranks = 4}), 1000).name, "all ranks");
  EXPECT_DOUBLE_EQ(binding(cuts_of(of, {}, {.ranks = 5}), 1000).seconds(1000), 3 + 1000. / 10);
  EXPECT_DOUBLE_EQ(binding(cuts_of(of, {}, {.ranks = 1}), 1000).seconds(1000), 0);
  EXPECT_THROW(cuts_of(of, {}, {.ranks = 9}), schedule_error);
}

std::vector<verb> scheduled_verbs() {
  std::vector<verb> found;
  for (verb const what : all_verbs())
    if (has_schedules(what)) found.push_back(what);
  return found;
}

/// By the definition: how many different sets of contributors inside are wanted outside, block by block.
fraction slow_crossing(verb what, rank_t root, std::vector<bool> const& inside) {
  auto const ranks = static_cast<rank_t>(inside.size());
  schedule wanted;
  wanted.verb = what;
  wanted.ranks = ranks;
  wanted.root = detail::is_rooted(what) ? std::optional(root) : std::nullopt;
  for (rank_t b = 0; b < ranks; ++b) wanted.blocks.push_back({{b, ranks}, {1, ranks}});
  requirements const required(wanted);
  std::int64_t sums = 0;
  for (block_t b = 0; b < ranks; ++b) {
    std::set<std::vector<rank_t>> different;
    for (rank_t r = 0; r < ranks; ++r) {
      if (inside[r]) continue;
      std::vector<rank_t> here;
      for (rank_t other = 0; other < ranks; ++other)
        if (inside[other] && required(r, b).contains(other)) here.push_back(other);
      if (!here.empty()) different.insert(here);
    }
    sums += static_cast<std::int64_t>(different.size());
  }
  return {sums, ranks};
}

TEST(Cuts, AreCrossedByWhatTheVerbsDefinitionSays) {
  std::mt19937 random(1);
  for (verb const what : scheduled_verbs())
    for (int i = 0; i < 200; ++i) {
      rank_t const ranks = 1 + random() % 12, root = random() % ranks;
      std::vector<bool> inside(ranks);
      for (rank_t r = 0; r < ranks; ++r) inside[r] = random() % 2 == 0;
      fraction const slow = detail::is_barrier(what) ? fraction(0) : slow_crossing(what, root, inside);
      EXPECT_EQ(least_crossing(what, root, inside), slow) << name_of(what) << " root " << root << " case " << i;
    }
}

/// A tree of switches, any of which has ranks, numbered anyhow.
network random_tree(std::mt19937& random) {
  auto const costs = [&] { return link_costs{static_cast<double>(random() % 3), 1. / (1 << random() % 6)}; };
  network made;
  place_t const places = 1 + random() % 6;
  for (place_t p = 0; p < places; ++p) {
    made.add_place("s" + std::to_string(p));
    if (p == 0) continue;
    place_t const other = random() % p;  // before the costs: arguments have no order
    made.join(p, other, costs());
  }
  rank_t const ranks = 2 + random() % 9;
  for (rank_t r = 0; r < ranks; ++r) {
    place_t const at = random() % places;
    made.add_rank(at, costs());
  }
  return made;
}

/// How many schedules have been held against the bound, and the nearest.
struct seen {
  std::size_t schedules = 0;
  double nearest = 1e300;
};

void expect_none_below(network const& of, double per_message, std::string const& name, seen& so_far) {
  rank_costs const costs{per_message, 0.25};
  routes const ways(of, costs);
  for (verb const what : scheduled_verbs()) {
    demand const wanted{
        .verb = what, .ranks = of.ranks(), .root = of.ranks() / 3, .same_bits = false, .idempotent = true};
    auto const cuts = cuts_of(of, costs, wanted);
    for (algorithm const& how : candidates_for(wanted, cost_model::flat(1, 1, 1))) {
      auto const made = made_if_defined(how, wanted.ranks, what, wanted.root);
      if (!made) continue;
      counts const work(*made, ways);
      for (double const bytes : {1., 100., 1e6}) {
        double const bound = binding(cuts, bytes).seconds(bytes), seconds = work.seconds(bytes);
        EXPECT_GE(seconds * (1 + 1e-9), bound)
            << name << ": " << how.text() << " of " << name_of(what) << ", " << binding(cuts, bytes).name;
        if (bound > 0) so_far.nearest = std::min(so_far.nearest, seconds / bound);
      }
      ++so_far.schedules;
    }
  }
}

TEST(Cuts, NoScheduleIsPricedBelowThemOnAnyTree) {
  std::mt19937 random(1);
  seen all;
  for (int i = 0; i < by_effort(6, 12, 400); ++i)
    expect_none_below(random_tree(random), random() % 3, "tree " + std::to_string(i), all);
  EXPECT_GT(all.schedules, 500u);
  EXPECT_LT(all.nearest,
            1.0001);  // some schedule takes hardly longer than the bound, long vectors with latencies beside them
}

TEST(Cuts, NoScheduleIsPricedBelowThemOnOtherNetworks) {
  seen all;
  for (
      char const* const text :
      {R"({"torus": [3, 4], "rank": {"bandwidth": 9}})", R"({"mesh": [2, 3], "ranks_per_host": 2})",
       R"({"dragonfly": {"groups": 3, "routers": 2, "hosts": 2}, "link": {"bandwidth": 4}, "global": {"bandwidth": 1}})",
       R"({"graph": [["a", "b", {"bandwidth": 5}], ["b", "c", {"latency": 9}], ["c", "a"], ["c", "d", {"bandwidth": 1}]],
            "ranks": ["a", "d", "b", "a", "c", "d", "a"]})"})
    expect_none_below(network_of(text), 1, text, all);
  EXPECT_GT(all.schedules, 500u);
}

}  // namespace
}  // namespace coset::schedule::testing
