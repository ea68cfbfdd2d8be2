// SPDX-License-Identifier: Apache-2.0
// What is known of schedules before they are made, against what counting finds in them.
#include <gtest/gtest.h>

#include "command/shown/selector.hpp"
#include "planning/schedule/model/alike_steps.hpp"
#include "planning/schedule/registry/named_fold.hpp"

namespace coset::schedule {
namespace {

constexpr rank_t all = UINT32_MAX;

algorithm named(std::vector<rank_t> const& dimensions, std::uint32_t saved) {
  if (dimensions.size() == 1) return {"direct", {{"saved_steps", std::to_string(saved)}}};
  return {"product", {{"dims", value_of(dimensions, 'x')}, {"saved_steps", std::to_string(saved)}}};
}

rank_t product_of(std::vector<rank_t> const& dimensions) {
  rank_t ranks = 1;
  for (rank_t const d : dimensions) ranks *= d;
  return ranks;
}

level_machine machine_of(rank_levels const& levels) {
  cost_model model;
  model.combine_per_byte = 0.5;
  model.peers_per_latency = 1000;
  model.streams = 5;
  model.per_stream_beyond = 3;
  for (std::size_t l = 0; l < levels.count(); ++l) {
    auto const far = static_cast<double>(l + 1);
    model.links.push_back({all, 100 * far, 1 * far, 10 * far, 2.5 / far, levels.count() == 1 ? 0.5 : 0});
  }
  return {levels, model};
}

/// Seconds differ by rounding only.
void expect_equal_prices(alike_steps const& foreseen, schedule const& made, rank_levels const& levels,
                         std::string const& what) {
  auto const on = machine_of(levels);
  counts const known(foreseen, on), found(made, on);
  for (double const bytes : {1.0, 100.0, 10'000.0}) {
    double const seconds = found.seconds(bytes);
    EXPECT_NEAR(known.seconds(bytes), seconds, 1e-9 * seconds) << what << ", " << bytes << " bytes";
  }
}

std::vector<std::vector<rank_t>> const shapes{{2}, {3}, {5}, {8}, {12}, {2, 2}, {4, 3}, {3, 4}, {2, 3, 2}, {4, 2, 3}};

TEST(AlikeSteps, WorksOfProductsAreThoseThatAreCounted) {
  for (auto const& dims : shapes) {
    rank_t const ranks = product_of(dims);
    for (auto const& groups : {std::vector<rank_t>{all}, {2, all}, {4, all}, {3, 6, all}, {5, all}}) {
      rank_levels const levels(ranks, groups);
      for (std::uint32_t saved = 0; saved <= dims.size(); ++saved) {
        for (verb const what : {verb::allreduce, verb::reduce_scatter, verb::allgather}) {
          if (saved > 0 && what != verb::allreduce) continue;  // half a schedule saves nothing
          auto const how = named(dims, saved);
          std::string const text =
              how.text() + ", groups of " + value_of(groups, '/') + ", " + std::string(name_of(what));
          auto const made = make(how, ranks, what);
          auto const foreseen = steps_of_product(dims, saved, what);
          ASSERT_EQ(foreseen.steps.size(), made.steps.size()) << text;
          expect_equal_prices(foreseen, made, levels, text);
        }
      }
    }
  }
}

/// Reductions, broadcasts and scans on one level, where every rank is as far as any other.
TEST(AlikeSteps, PricesOfRootedVerbsAndScansAreThoseThatAreCounted) {
  for (auto const& dims : shapes) {
    rank_t const ranks = product_of(dims);
    rank_levels const levels(ranks, {all});
    for (std::uint32_t saved = 0; saved <= dims.size(); ++saved) {
      for (verb const what :
           {verb::reduce, verb::broadcast, verb::scan, verb::gather, verb::scatter, verb::all_to_all}) {
        if (dims.size() > 1 && what != verb::reduce && what != verb::broadcast) continue;
        if (saved > 0 && detail::only_moves(what) && what != verb::broadcast) continue;
        auto const how = named(dims, saved);
        expect_equal_prices(steps_of_product(dims, saved, what), make(how, ranks, what), levels,
                            how.text() + ", " + std::string(name_of(what)));
      }
    }
  }
}

/// The same on levels of the fold's own dimensions, where what crosses a level does so once.
TEST(AlikeSteps, PricesOfRootedVerbsOnTheirLevelsAreThoseThatAreCounted) {
  for (auto const& [dims, groups] : {std::pair{std::vector<rank_t>{4, 3}, std::vector<rank_t>{4, all}},
                                     {{2, 3, 2}, {2, 6, all}},
                                     {{8}, {2, 4, all}}})
    for (std::uint32_t saved = 0; saved <= dims.size(); ++saved)
      for (verb const what : {verb::reduce, verb::broadcast}) {
        rank_t const ranks = product_of(dims);
        auto const how = named(dims, saved);
        expect_equal_prices(steps_of_product(dims, saved, what), make(how, ranks, what), rank_levels(ranks, groups),
                            how.text() + ", " + std::string(name_of(what)));
      }
}

/// Nodes of 3, 1 and 4 ranks, and ranks that take nodes in turn.
TEST(AlikeSteps, RanksMayBePlacedAnyhow) {
  for (auto const& nodes : {std::vector<unsigned>{7, 7, 7, 0, 3, 3, 3, 3}, {0, 1, 0, 1, 0, 1, 0, 1}}) {
    rank_levels const levels({nodes, std::vector<unsigned>(8)});
    for (auto const& dims : {std::vector<rank_t>{8}, {2, 4}, {4, 2}, {2, 2, 2}})
      expect_equal_prices(steps_of_product(dims, 0, verb::allreduce), make(named(dims, 0), 8), levels,
                          value_of(dims, 'x'));
  }
}

/// On levels that look the same to all ranks or not: groups of which the fold's shifts are no multiples.
TEST(AlikeSteps, WhatAllRanksDoAlikeCostsTheSameOnLevels) {
  std::size_t compared = 0;
  for (char const* const text :
       {"generalized", "generalized(radix=3,saved_steps=1)", "ring", "circulant", "swing", "direct(saved_steps=1)",
        "fold(group=4x3,shifts=direct)", "fold(group=d12,shifts=naive)"})
    for (auto const& groups : {std::vector<rank_t>{all}, {2, all}, {4, all}, {3, 6, all}, {5, all}})
      for (verb const what : {verb::allreduce, verb::reduce_scatter, verb::allgather}) {
        auto const how = completed(algorithm::parse(text));
        auto const alike = symmetric_form(how, 12, what);
        if (!alike) continue;
        expect_equal_prices(steps_of(*alike), make(how, 12, what), rank_levels(12, groups), text);
        ++compared;
      }
  EXPECT_GT(compared, 80u);
}

TEST(AlikeSteps, OneRankDoesNothing) {
  EXPECT_TRUE(steps_of_product({1}, 0, verb::allreduce).steps.empty());
  EXPECT_EQ(least_seconds({"ring", {}}, verb::allreduce, level_machine(1, cost_model::ten_gigabit()), 8), 0);
}

/// Every row says how many steps its allreduces take at least, and none takes fewer. Most take no more.
TEST(AlikeSteps, NoScheduleHasFewerStepsThanItsRowSays) {
  std::size_t exact = 0, cases = 0;
  for (named_algorithm const& row : registry()) EXPECT_NE(row.least.of, nullptr) << row.name;
  for (rank_t ranks = 2; ranks <= 33; ++ranks) {
    demand wanted{.ranks = ranks, .same_bits = false, .idempotent = true};
    if (ranks == 12) wanted.nodes = {5, 4, 3};
    for (algorithm const& how : candidates_for(wanted, cost_model::ten_gigabit())) {
      auto const one = count(how, wanted, level_machine(ranks, cost_model::ten_gigabit()));
      if (!one) continue;
      std::uint32_t const least = find_algorithm(how.name).least.of(how, ranks);
      EXPECT_LE(least, one->found.steps) << how.text() << " on " << ranks;
      exact += least == one->found.steps;
      ++cases;
    }
  }
  EXPECT_GT(exact, cases / 2);
}

/// Nodes of 24 and 8 ranks, where peers are dear: two steps of seven take less than one of all.
TEST(AlikeSteps, BoundsHoldWhereMoreStepsHaveFewerPeers) {
  std::vector<unsigned> nodes(32, 0);
  std::fill(nodes.begin() + 24, nodes.end(), 1);
  rank_levels const levels({nodes, std::vector<unsigned>(32)});
  cost_model model;
  model.links = {{all, 100, 0, 20}, {all, 400, 0, 80}};
  model.peers_per_latency = 1000;
  level_machine const on(levels, model);
  for (char const* const text : {"latency(radix=8)", "generalized(radix=8,saved_steps=2)", "generalized(radix=4)"}) {
    auto const how = algorithm::parse(text);
    for (verb const what : {verb::reduce, verb::allreduce})
      EXPECT_LE(least_seconds(how, what, on, 8), counts(make(how, 32, what), on).seconds(8)) << text;
  }
}

/// A bound that is too high would hide the fastest schedule.
TEST(AlikeSteps, NoScheduleIsFasterThanItsBound) {
  cost_model shared;
  shared.links = {{4, 100, 0.03, 20}, {all, 300, 0.07, 60, 0.02}};
  shared.peers_per_latency = 1000;
  shared.combine_per_byte = 0.01;
  for (verb const what : {verb::allreduce, verb::reduce, verb::broadcast, verb::allgather, verb::reduce_scatter,
                          verb::scan, verb::exclusive_scan}) {
    for (rank_t const ranks : {2u, 3u, 7u, 8u, 12u, 17u}) {
      demand wanted{.verb = what, .ranks = ranks};
      wanted.same_bits = false;
      wanted.idempotent = true;
      if (ranks == 12) wanted.nodes = {5, 4, 3};
      level_machine const on(ranks, shared);
      selector const tried(wanted, on);
      for (double const bytes : {1.0, 1e3, 1e6})
        for (scored const& one : tried.rank(bytes)) {
          double const bound = least_seconds(one.which->how, what, on, bytes);
          EXPECT_LE(bound, one.seconds * (1 + 1e-9))
              << one.which->how.text() << " of " << name_of(what) << " on " << ranks;
        }
    }
  }
}

}  // namespace
}  // namespace coset::schedule
