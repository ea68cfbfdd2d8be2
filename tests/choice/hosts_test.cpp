// SPDX-License-Identifier: Apache-2.0
// What is chosen between hosts: right, the same bits on any network, and priced as it is.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "command/shown/networks/link_traffic.hpp"
#include "command/shown/selector.hpp"
#include "effort.hpp"
#include "planning/choice/hosts/exchange.hpp"
#include "planning/schedule/core/validate.hpp"
#include "planning/schedule/model/cost.hpp"
#include "planning/schedule/model/tree.hpp"
#include "planning/schedule/parts/joined.hpp"
#include "planning/schedule/parts/make_part.hpp"

namespace coset::choice {
namespace {

using hosts = std::vector<rank_t>;

schedule::link const gigabit{UINT32_MAX, 20e-6, 8e-9, 5e-6}, ten_gigabit = usual_network,
                                                             infiniband{UINT32_MAX, 1.5e-6, 0.05e-9, 0.3e-6};

question asked(hosts const& of, std::size_t bytes, schedule::link const& network = usual_network) {
  question q{.ranks = std::accumulate(of.begin(), of.end(), rank_t{0}), .bytes = bytes};
  q.hosts.ranks = of;
  q.hosts.network = network;
  return q;
}

/// How the result at part `where` of the vector is bracketed, by rank; nothing where it ends with none.
std::vector<std::string> brackets_by_rank(schedule::schedule const& of, schedule::fraction where) {
  schedule::block_t b = 0;
  while (of.blocks[b].offset + of.blocks[b].size <= where) ++b;
  std::map<std::pair<rank_t, schedule::slot_t>, std::string> values;
  for (rank_t r = 0; r < of.ranks; ++r) values[{r, 0}] = std::to_string(r);
  for (auto const& step : of.steps) {
    auto const before = values;
    for (auto const& a : step) {
      if (a.block != b) continue;
      std::string made;
      for (auto const& s : of.from(a)) {
        std::string const& value = s.rank == a.rank ? values.at({s.rank, s.slot}) : before.at({s.rank, s.slot});
        made = made.empty() ? value : "(" + made + " " + value + ")";
      }
      values[{a.rank, a.slot}] = made;
    }
  }
  std::vector<std::string> found;
  for (rank_t r = 0; r < of.ranks; ++r)
    found.push_back(of.result[r][b] == schedule::no_slot ? "" : values.at({r, of.result[r][b]}));
  return found;
}

/// The same on each rank.
std::set<std::string> brackets_at(schedule::schedule const& of, schedule::fraction where) {
  auto const all = brackets_by_rank(of, where);
  return {all.begin(), all.end()};
}

/// The same all over the vector and on all ranks, or else by parts of it.
std::vector<std::set<std::string>> brackets_of(question const& q, exchange const& e) {
  auto const made = schedule::make(as_answer(q, e).algorithm, q.ranks);
  std::vector<std::set<std::string>> found;
  for (int k = 0; k < 24; ++k) {
    found.push_back(brackets_at(made, {2 * k + 1, 48}));
    EXPECT_EQ(found.back().size(), 1u) << "ranks have different bits";
  }
  if (std::ranges::all_of(found, [&](auto const& part) { return part == found[0]; })) found.resize(1);
  return found;
}

TEST(ChooseBetween, TakesWhatIsValidKeepsTheOrderWhereNeededAndGivesTheSameBits) {
  test::sample cases(1, 7);
  for (hosts const& of : {hosts{1, 1},
                          {2, 1},
                          {3, 3, 3},
                          {1, 2, 1, 3},
                          {4, 4, 4, 4},
                          {2, 2, 2, 2, 2},
                          hosts(7, 2),
                          hosts(9, 1),
                          hosts(11, 1),
                          hosts(12, 2),
                          hosts(16, 2)}) {
    for (std::size_t bytes = 1; bytes < std::size_t{1} << 30; bytes *= 32) {
      for (verb const what : {verb::allreduce, verb::reduce, verb::reduce_scatter, verb::allgather, verb::broadcast,
                              verb::scan, verb::exclusive_scan, verb::barrier}) {
        for (bool const commutative : {true, false}) {
          for (auto const& network : {gigabit, ten_gigabit, infiniband}) {
            if (cases.skips()) continue;
            question q = asked(of, bytes, network);
            q.what = what;
            q.commutative = commutative;
            auto const chosen = choose_between(q);
            auto const found = schedule::validate(schedule::make(chosen.algorithm, q.ranks, schedule_of(what)));
            EXPECT_TRUE((found.ordered || commutative) && found.rank_uniform)
                << chosen.algorithm.text() << " of " << name_of(what);
          }
        }
      }
    }
  }
}

/// The network is measured by every team anew.
TEST(ChooseBetween, BracketsAlikeWhateverIsMeasured) {
  for (hosts const& of :
       {hosts{2, 2}, {1, 2, 1, 3}, {3, 3, 3, 3}, hosts(9, 1), hosts(10, 2), hosts(11, 1), hosts(12, 1), hosts(38, 1)}) {
    for (std::size_t bytes = 8; bytes < std::size_t{1} << 26; bytes *= 16) {
      question const usual = asked(of, bytes);
      exchange const expected = cheapest_exchange(usual);
      auto const brackets = brackets_of(usual, expected);
      for (auto const& network : {gigabit, infiniband, schedule::link{UINT32_MAX, 0, 1, 0}}) {
        exchange const found = cheapest_exchange(asked(of, bytes, network));
        EXPECT_EQ(brackets_of(usual, found), brackets) << of.size() << " hosts, " << bytes << " bytes";
        // Parts of segments lie elsewhere than parts of the whole.
        if (brackets.size() > 1) {
          EXPECT_EQ(found.segment_bytes, expected.segment_bytes);
        }
      }
    }
  }
}

/// Of vectors that are made of ranks' pieces, and of prefixes, which leaders make no difference to.
TEST(ChooseBetween, BracketsPiecesAndPrefixesAlikeWhateverIsMeasured) {
  test::sample cases(1, 7);
  for (verb const what : {verb::reduce_scatter, verb::scan, verb::exclusive_scan}) {
    for (hosts const& of : {hosts{2, 2}, {1, 2, 1, 3}, {3, 3, 3, 3}, hosts(9, 1), hosts(11, 1), hosts(12, 2)}) {
      for (std::size_t bytes = 8; bytes < std::size_t{1} << 26; bytes *= 32) {
        if (cases.skips()) continue;
        std::set<std::vector<std::vector<std::string>>> found;
        for (auto const& network : {usual_network, gigabit, infiniband, schedule::link{UINT32_MAX, 0, 1, 0}}) {
          question q = asked(of, bytes, network);
          q.what = what;
          auto const made = schedule::make(choose_between(q).algorithm, q.ranks, what);
          std::vector<std::vector<std::string>> all;
          for (int k = 0; k < 24; ++k) all.push_back(brackets_by_rank(made, {2 * k + 1, 48}));
          found.insert(all);
        }
        EXPECT_EQ(found.size(), 1u) << name_of(what) << " over " << of.size() << " hosts, " << bytes << " bytes";
      }
    }
  }
}

/// Whatever leaders, dimensions and saved steps; and all over the vector.
TEST(ChooseBetween, FullFoldsAllGiveTheSameBits) {
  for (hosts const& of :
       {hosts{2, 2}, {1, 2, 1, 3}, hosts(6, 1), hosts(8, 2), hosts(9, 1), hosts(12, 2), hosts(30, 1)}) {
    question const q = asked(of, 1024);
    std::vector<std::set<std::string>> expected;
    for (exchange const& e : exchanges_for(q)) {
      if (e.dimensions.empty()) continue;
      auto const found = brackets_of(q, e);
      EXPECT_EQ(found.size(), 1u);
      if (expected.empty()) expected = found;
      EXPECT_EQ(found, expected) << as_answer(q, e).algorithm.text();
    }
  }
}

/// Of hosts with one rank each, whose steps are those between hosts.
TEST(ChooseBetween, PricesWhatSchedulesDo) {
  for (verb const what : {verb::allreduce, verb::reduce_scatter, verb::allgather, verb::scan}) {
    for (rank_t const number : {2u, 3u, 4u, 5u, 8u, 9u, 11u, 12u, 16u, 22u, 34u}) {
      auto const on = [&](schedule::link const& network) {
        question q = asked(hosts(number, 1), 1, network);
        q.what = what;
        return q;
      };
      for (exchange const& e : exchanges_for(on(usual_network))) {
        auto const how = as_answer(on(usual_network), e).algorithm;
        auto const made = schedule::make(how, number, what);
        auto const found = schedule::validate(made);
        double const peers = schedule::counts(made, schedule::cost_model::flat(1, 0, 0)).seconds(1);
        double const most = found.received_max.value();
        EXPECT_DOUBLE_EQ(price_of(on({0, 1, 0, 0}), e).rounds, found.steps) << how.text() << name_of(what);
        if (!e.is_fold()) continue;  // some ranks do more in some steps, others in others
        EXPECT_NEAR(price_of(on({0, 0, 1, 0}), e).bytes, most, 1e-9) << how.text() << name_of(what);
        EXPECT_NEAR(price_of(on({0, 0, 0, 1}), e).messages, peers, 1e-6 * peers) << how.text() << name_of(what);
      }
    }
  }
}

/// The model of a network between hosts of one rank each.
schedule::cost_model model_of(schedule::link const& network) {
  schedule::cost_model model;
  model.links = {network};
  model.peers_per_latency = UINT32_MAX;
  model.combine_per_byte = fold_per_byte;
  return model;
}

/// Of the whole repertoire, pipelines in their best number of blocks.
TEST(ChooseBetween, BroadcastsTakeNoLongerThanTheBestOfAllAlgorithms) {
  auto const model = model_of(usual_network);
  schedule::level_machine const on(16, model);
  schedule::demand const wanted{.verb = verb::broadcast, .ranks = 16};
  for (std::size_t const bytes : {std::size_t{1} << 10, std::size_t{64} << 10, std::size_t{1} << 20,
                                  std::size_t{16} << 20, std::size_t{64} << 20}) {
    auto const size = static_cast<double>(bytes);
    auto const all = schedule::with_best_blocks(schedule::candidates_for(wanted, model), wanted, on, size);
    auto const best = schedule::selector(wanted, on, all).rank(size);
    auto q = asked(hosts(16, 1), bytes);
    q.what = verb::broadcast;
    auto const how = choose_between(q).algorithm;
    auto const made = schedule::make(schedule::between_of(schedule::completed(how)), 16, q.what);
    EXPECT_LE(schedule::counts(made, on).seconds(size), 1.02 * best.front().seconds)
        << how.text() << " of " << bytes << " bytes, not " << best.front().which->how.text();
  }
}

/// Of trees and pipelines each host makes its part alone, and they are priced as they are, in whatever number of blocks.
TEST(ChooseBetween, MakesTreesAndPipelinesOfEachHostAlone) {
  std::size_t tried = 0;
  for (verb const what : {verb::broadcast, verb::reduce, verb::allreduce}) {
    for (hosts const& of : {hosts(5, 1), hosts(8, 2), hosts{1, 2, 1, 3}}) {
      question q = asked(of, 1 << 20);
      q.what = what;
      for (exchange const& e : exchanges_for(q)) {
        if (e.is_fold()) continue;
        auto const how = as_answer(q, e).algorithm;
        auto const between = schedule::make(tree_of(e), static_cast<rank_t>(of.size()), what);
        schedule::counts const counted(between, schedule::cost_model::flat(0, 1, 0));
        EXPECT_NEAR(e.moved.latency, schedule::validate(between).steps, 1e-6) << how.text() << " of " << name_of(what);
        EXPECT_NEAR(e.moved.transfer, counted.seconds(1), 1e-6) << how.text();
        std::vector<schedule::part> parts;
        std::vector<rank_t> first{0};
        for (rank_t const ranks : of) first.push_back(first.back() + ranks);
        rank_t const root = q.ranks / 2;
        for (std::size_t h = 0; h < of.size(); ++h) parts.push_back(schedule::make_part(how, first, h, what, root));
        auto whole = schedule::joined(parts);
        if (what != verb::allreduce) whole.root = root;
        EXPECT_TRUE(schedule::validate(whole).rank_uniform) << how.text() << " of " << name_of(what);
        ++tried;
      }
    }
  }
  EXPECT_GT(tried, 20u);
}

exchange chosen(hosts const& of, std::size_t bytes, schedule::link const& network = usual_network) {
  return cheapest_exchange(asked(of, bytes, network));
}

/// What comes over a host's link, in vectors.
double volume_of(rank_t number, std::size_t bytes, schedule::link const& network = usual_network) {
  exchange how = chosen(hosts(number, 1), bytes, network);
  how.segment_bytes = 0;
  return price_of(asked(hosts(number, 1), bytes, {UINT32_MAX, 0, 1, 0}), how).bytes / static_cast<double>(bytes);
}

TEST(ChooseBetween, SendsWholeVectorsOnlyWhileTheyAreShort) {
  for (rank_t const number : {2u, 4u, 8u}) {
    double const least = 2.0 * (number - 1) / number;
    EXPECT_NEAR(volume_of(number, 8), number - 1, 1e-9);
    EXPECT_NEAR(volume_of(number, 1 << 20), least, 1e-9);
    EXPECT_NEAR(volume_of(number, 16 * 1024, gigabit), least, 1e-9);
  }
  EXPECT_NEAR(volume_of(4, 1024, gigabit), 3, 1e-9);
}

TEST(ChooseBetween, TakesMoreRoundsWhereMessagesAreManyOrTakeLong) {
  for (rank_t const number : {64u, 100u, 1000u}) {
    auto const few = chosen(hosts(number, 1), 8);
    EXPECT_GT(few.dimensions.size(), 1u) << number;
    EXPECT_EQ(few.saved_steps, few.dimensions.size()) << number;
  }
  schedule::link const slow_messages{UINT32_MAX, 1e-6, 1e-9, 20e-6};
  EXPECT_EQ(chosen(hosts(8, 1), 8).dimensions, (std::vector<rank_t>{8}));
  EXPECT_EQ(chosen(hosts(8, 1), 8, slow_messages).dimensions, (std::vector<rank_t>{2, 2, 2}));
}

TEST(ChooseBetween, LetsHalvesSwapInsteadOfAGeneralizedFoldOfMoreRounds) {
  for (auto const& [number, radix] : {std::pair{38u, 5u}, {58u, 6u}, {82u, 7u}}) {
    auto const found = chosen(hosts(number, 1), 4096);
    EXPECT_TRUE(found.swaps_halves()) << number;
    EXPECT_EQ(found.radix, radix) << number;
    auto const how = as_answer(asked(hosts(number, 1), 4096), found).algorithm;
    auto const properties = schedule::validate(schedule::make(how, number));
    EXPECT_EQ(properties.steps, 5u) << how.text();
    EXPECT_TRUE(properties.rank_uniform) << how.text();
  }
  EXPECT_FALSE(chosen(hosts(37, 1), 4096).swaps_halves());
  // A product is for any network, and so keeps its place.
  EXPECT_FALSE(chosen(hosts(68, 1), 4096).swaps_halves());
  EXPECT_FALSE(chosen(hosts(68, 1), 4096).dimensions.empty());
}

TEST(ChooseBetween, CutsLongVectorsIntoSegmentsThatOverlap) {
  EXPECT_EQ(chosen(hosts(2, 4), 64 * 1024).segment_bytes, 0u);
  auto const far = chosen(hosts(2, 4), 64 << 20, gigabit), near = chosen(hosts(2, 4), 64 << 20, infiniband);
  EXPECT_GT(far.segment_bytes, 0u);
  EXPECT_LE(far.segment_bytes, std::size_t{4} << 20);
  EXPECT_GE(near.segment_bytes, far.segment_bytes);
}

/// Where one link carries all, more leaders only send more messages; where folding takes longer, they fold in parallel.
TEST(ChooseBetween, LetsAllLeadWhereFoldsCostMoreThanMessages) {
  EXPECT_EQ(chosen(hosts(4, 8), 8, gigabit).leaders, 1u);
  EXPECT_EQ(chosen(hosts(4, 8), 16 << 20, infiniband).leaders, 0u);
}

/// Where one rank alone would fold what 64 have and all would send, those that send lead.
TEST(ChooseBetween, LetsThoseLeadThatSend) {
  auto q = asked(hosts(64, 64), 1 << 20);
  q.hosts.carriers = q.hosts.first_carriers = 8;
  EXPECT_EQ(cheapest_exchange(q).leaders, 8u);
}

/// The links of switches carry what their number asks for, and no more, where those of one switch exchange first.
TEST(ChooseBetween, ExchangesWithinASwitchFirst) {
  std::istringstream text(
      R"({"tree": {"core": ["a", "b", "c"], "a": [0, 1, 2, 3], "b": [4, 5, 6, 7], "c": [8, 9, 10, 11]}})");
  auto const switches = schedule::parse_tree(text, "three switches");
  std::vector<rank_t> twelve(12);
  std::iota(twelve.begin(), twelve.end(), 0);
  auto const most_of_a_switch = [&](std::vector<rank_t> const& known, std::size_t bytes) {
    auto q = asked(hosts(12, 1), bytes);
    q.hosts.switches = known;
    auto const how = as_answer(q, cheapest_exchange(q)).algorithm;
    EXPECT_EQ(how.value("dims") == "4x3", !known.empty());
    auto const loads = schedule::edge_traffic(schedule::make(how, 12), twelve, switches);
    schedule::fraction most = 0;
    for (std::size_t node = 1; node < loads.size(); ++node) {
      if (!switches.nodes[node].rank) most = std::max(most, loads[node].out);
    }
    return most;
  };
  EXPECT_EQ(most_of_a_switch({4, 3}, 1 << 20), schedule::fraction(2 * 2, 3));
  EXPECT_GT(most_of_a_switch({}, 1 << 20), schedule::fraction(2 * 2, 3));
  EXPECT_EQ(most_of_a_switch({4, 3}, 8), schedule::fraction(2 * 4)) << "all that it has, to two others";
}

/// Every host can make its part, and chooses in no time that grows with a power of the number of hosts.
TEST(ChooseBetween, TakesWhatHostsCanMake) {
  test::sample cases(1, 5);
  for (hosts const& of : {hosts(1009, 8), hosts(100, 128), hosts(10'000, 1), hosts(4096, 16)}) {
    if (of.size() > test::by_effort<std::size_t>(2000, 10'000, 10'000)) continue;
    for (verb const what : {verb::allreduce, verb::reduce, verb::broadcast, verb::barrier, verb::reduce_scatter,
                            verb::allgather, verb::scan, verb::exclusive_scan}) {
      for (std::size_t const bytes : {8u, 1u << 20, 64u << 20}) {
        if (cases.skips()) continue;
        auto q = asked(of, bytes);
        q.what = what;
        q.hosts.carriers = q.hosts.first_carriers = 8;
        EXPECT_LT(exchanges_for(q).size(), 3000u);
        auto const found = as_answer(q, cheapest_exchange(q)).algorithm;
        std::vector<rank_t> first{0};
        for (rank_t const ranks : of) first.push_back(first.back() + ranks);
        SCOPED_TRACE(found.text() + ", " + std::to_string(bytes) + " bytes");
        auto const part = schedule::make_part(found, first, of.size() / 3, schedule_of(what), 0);
        // A host's own piece is cut at its ranks.
        bool const by_pieces = what == verb::reduce_scatter || what == verb::allgather;
        EXPECT_LE(part.own.blocks.size() * part.own.ranks, by_pieces ? 1u << 16 : 1u << 15);
      }
    }
  }
}

}  // namespace
}  // namespace coset::choice
