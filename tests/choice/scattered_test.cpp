// SPDX-License-Identifier: Apache-2.0
// Ranks whose neighbours are elsewhere: they fold by level all the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "command/shown/selector.hpp"
#include "effort.hpp"
#include "planning/choice/choose.hpp"
#include "planning/schedule/core/validate.hpp"
#include "planning/schedule/registry/permutation.hpp"

namespace coset::choice {
namespace {

constexpr std::size_t mebibyte = 1 << 20;

std::vector<processor> scattered(std::string const& machine, rank_t ranks = 0) {
  auto const found = topology::synthetic(machine);
  return found.place(ranks == 0 ? found.cores() : ranks, placement::scatter);
}

question asked_on(std::vector<processor> const& places, std::size_t bytes, verb what = verb::allreduce) {
  question q{.what = what, .ranks = static_cast<rank_t>(places.size()), .bytes = bytes};
  put_on_levels(q, places);
  return q;
}

/// What the same question got before: scattered ranks are on no levels.
question flat(question q, std::vector<processor> const& places) {
  q.levels = level_facts_of(places).as_numbered;
  q.order = {};
  return q;
}

/// Seconds of an algorithm's steps with the links between these places, as they are.
double seconds_on(std::vector<processor> const& places, schedule::algorithm const& how, std::size_t bytes) {
  std::vector<unsigned> nodes, all(places.size(), 0);
  for (processor const& p : places) nodes.push_back(p.node);
  schedule::cost_model model;
  auto const kinds = level_kinds();
  for (std::size_t const kind : {std::size_t{1}, std::size_t{4}})
    model.links.push_back(
        {UINT32_MAX, kinds[kind].latency, kinds[kind].per_byte, kinds[kind].per_peer, kinds[kind].shared});
  model.combine_per_byte = fold_per_byte;
  model.peers_per_latency = UINT32_MAX;
  schedule::level_machine const on(schedule::rank_levels({nodes, all}), model);
  return schedule::counts(schedule::make(how, on.ranks()), on).seconds(static_cast<double>(bytes));
}

TEST(Scattered, RanksAreChosenPlansNodeByNodeThatTakeLess) {
  for (char const* const machine : {"package:4 numa:1 l3:1 core:6 pu:1", "package:2 numa:1 l3:1 core:16 pu:1"}) {
    auto const places = scattered(machine);
    auto const q = asked_on(places, mebibyte);
    auto const by_level = choose(q), as_before = choose(flat(q, places));
    EXPECT_EQ(by_level.algorithm.name, "product") << machine;
    EXPECT_EQ(by_level.algorithm.value(schedule::permute).substr(0, 7), "stride:") << by_level.algorithm.text();
    EXPECT_LT(by_level.seconds, as_before.seconds) << machine;
    // The levels that the answer was priced on are those of the places: not only the chooser says so.
    EXPECT_LT(seconds_on(places, by_level.algorithm, mebibyte), 0.7 * seconds_on(places, as_before.algorithm, mebibyte))
        << by_level.algorithm.text() << " beside " << as_before.algorithm.text();
  }
}

TEST(Scattered, PlansCostWhatCompactOnesDo) {
  for (std::size_t const bytes : {std::size_t{64}, std::size_t{64} << 10, 16 * mebibyte}) {
    auto const machine = topology::synthetic("package:2 numa:2 l3:2 core:4 pu:1");
    auto const near = machine.place(32, placement::compact), far = machine.place(32, placement::scatter);
    auto compact = choose(asked_on(near, bytes)), there = choose(asked_on(far, bytes));
    EXPECT_DOUBLE_EQ(compact.seconds, there.seconds);
    EXPECT_TRUE(asked_on(near, bytes).order.empty());
    there.algorithm.parameters.erase(schedule::permute);
    EXPECT_EQ(there.algorithm, compact.algorithm);
  }
}

/// Red if no read is saved: product on nodes of P/N reads (N - 1) vectors over their links each way.
TEST(Scattered, PlansReadAsLittleBetweenNodesAsCanBe) {
  auto const places = scattered("node:4 core:6 pu:1");
  auto const how = choose(asked_on(places, 16 * mebibyte)).algorithm;
  std::vector<unsigned> nodes, all(places.size(), 0);
  for (processor const& p : places) nodes.push_back(p.node);
  schedule::cost_model free;
  free.links.resize(2);
  schedule::counts const work(schedule::make(how, 24),
                              schedule::level_machine(schedule::rank_levels({nodes, all}), free));
  EXPECT_EQ(work.volumes().back().total, schedule::fraction(2 * (4 - 1))) << how.text();
}

TEST(Scattered, NodesOfDifferentSizesAreFoldedByNode) {
  auto const places = scattered("node:3 core:6 pu:1", 17);
  auto const q = asked_on(places, mebibyte);
  EXPECT_EQ(uneven_nodes_of(q), (std::vector<rank_t>{6, 6, 5}));
  auto const chosen = choose(q);
  EXPECT_TRUE(chosen.algorithm.parameters.contains(schedule::permute)) << chosen.algorithm.text();
  EXPECT_LT(chosen.seconds, choose(flat(q, places)).seconds);
}

TEST(Scattered, WhatNeedsTheOrderOfTheRanksKeepsIt) {
  auto const places = scattered("node:4 core:6 pu:1");
  for (verb const what : {verb::scan, verb::exclusive_scan})
    EXPECT_TRUE(asked_on(places, mebibyte, what).order.empty());
  question q{.ranks = 24, .bytes = mebibyte, .commutative = false};
  put_on_levels(q, places);
  EXPECT_TRUE(q.order.empty());
  auto const plan = schedule::make(choose(q).algorithm, 24);
  EXPECT_TRUE(schedule::validate(plan).ordered);
}

TEST(Scattered, EveryVerbIsServedOnScatteredAndDealtRanks) {
  auto const machine = topology::synthetic("package:2 numa:2 l3:1 core:4 pu:2");
  std::vector<std::vector<processor>> all{machine.place(16, placement::scatter), machine.place(32, placement::scatter),
                                          machine.place(14, placement::scatter)};
  auto hidden = machine.place(16, placement::compact);  // no stride: an order of its own
  std::swap(hidden[1], hidden[5]);
  std::swap(hidden[2], hidden[15]);
  all.push_back(hidden);
  for (auto const& places : all) {
    auto const ranks = static_cast<rank_t>(places.size());
    for (verb const what : {verb::allreduce, verb::reduce, verb::broadcast, verb::reduce_scatter, verb::allgather,
                            verb::barrier, verb::reduce_shared, verb::allreduce_view, verb::scan}) {
      for (std::size_t bytes = 8; bytes <= 64 * mebibyte; bytes *= test::by_effort<std::size_t>(64, 8, 2)) {
        auto const how = choose(asked_on(places, bytes, what)).algorithm;
        auto const plan = schedule::make(how, ranks, schedule_of(what), ranks / 2);
        EXPECT_TRUE(schedule::validate(plan).rank_uniform) << how.text() << " of " << name_of(what);
      }
    }
  }
}

}  // namespace
}  // namespace coset::choice
