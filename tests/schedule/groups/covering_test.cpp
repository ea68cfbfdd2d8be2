// SPDX-License-Identifier: Apache-2.0
// The covering theorem: which shifts make a chain, over groups that need not commute.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <set>
#include <tuple>

#include "planning/schedule/core/validate.hpp"
#include "planning/schedule/groups/chains.hpp"
#include "planning/schedule/groups/covering.hpp"
#include "planning/schedule/groups/symmetric_verbs.hpp"
#include "planning/schedule/parts/part_of.hpp"
#include "planning/schedule/registry/foldings.hpp"
#include "schedule/effort.hpp"
#include "schedule/groups/some_chains.hpp"
#include "schedule/schedules.hpp"

namespace coset::schedule {
namespace {

using testing::below;
using testing::covering_shifts;
using testing::generator;
using testing::schedule_of;
using testing::sums_of;

shift_list random_shifts(group const& g, generator& random) {
  shift_list steps(1 + below(random, 7));
  for (auto& step : steps)
    for (rank_t n = 1 + below(random, 2); n > 0; --n) step.push_back(1 + below(random, g.order() - 1));
  return steps;
}

std::vector<group> some_groups() {
  auto all = testing::groups_in_one_order(by_effort<rank_t>(16, 24, 40));
  for (rank_t order = 2; order <= 24; ++order) all.push_back(group::cyclic(order));
  for (std::vector<rank_t> const& factors : {std::vector<rank_t>{4, 3}, {2, 2, 3}, {3, 3}, {5, 5}, {2, 2, 2, 2}})
    all.emplace_back(factors);
  return all;
}

TEST(Covering, AChainExistsExactlyWhereSumsOfShiftsAreAllElements) {
  generator random(7);
  int chains = 0, none = 0;
  for (group const& g : some_groups())
    for (int round = 0; round < 30; ++round) {
      auto const steps = random_shifts(g, random);
      bool const covers = sums_of(g, steps).size() == g.order();
      try {
        chain const made = covering_chain(g, steps);
        EXPECT_TRUE(covers);
        EXPECT_NO_THROW(last_level(g, made));
        ++chains;
      } catch (schedule_error const& e) {
        bool const leaves_out = std::string(e.what()).ends_with("leave it out");
        EXPECT_TRUE(!covers || leaves_out) << e.what();
        ++none;
      }
    }
  EXPECT_GT(chains, 100);
  EXPECT_GT(none, 100);
}

TEST(Covering, EveryListOfFewShiftsOnFewRanksIsAChainOrRefused) {
  for (group const& g : {group::cyclic(3), group::cyclic(4), group::cyclic(5), group::cyclic(6), group::dihedral(6),
                         group::cyclic(7), group::cyclic(8), group::dihedral(8)}) {
    rank_t const others = g.order() - 1;
    for (rank_t list = 0; list < others * others * others * others; ++list) {
      shift_list steps;
      for (rank_t rest = list; steps.size() < 4; rest /= others) steps.push_back({1 + rest % others});
      if (sums_of(g, steps).size() < g.order()) continue;
      try {
        chain const made = covering_chain(g, steps);
        ASSERT_NO_THROW(last_level(g, made)) << list << " of " << g.order();
      } catch (schedule_error const& e) {
        ASSERT_TRUE(std::string(e.what()).ends_with("leave it out")) << e.what();
      }
    }
  }
}

TEST(Covering, EveryChainOverEveryGroupIsAnAllreduceOfTheLeastVolume) {
  generator random(11);
  for (group const& g : some_groups()) {
    auto const steps = covering_shifts(g, random);
    chain const made = covering_chain(g, steps);
    ASSERT_LE(made.size(), steps.size());
    properties const found = validate(expand(fold(g, made, made)));
    EXPECT_EQ(found.steps, 2 * made.size());
    EXPECT_EQ(found.received_max, found.volume_bound);
    EXPECT_EQ(found.sent_max, found.volume_bound);
    EXPECT_EQ(found.combined_max, fraction(std::int64_t{g.order()} - 1, g.order()));
    EXPECT_TRUE(found.rank_uniform);
  }
}

TEST(Covering, AnyNumberOfStepsIsSavedOverEveryGroup) {
  generator random(13);
  for (group const& g : some_groups()) {
    chain const made = covering_chain(g, covering_shifts(g, random));
    for (std::uint32_t saved = 1; saved <= made.size(); saved += 1 + static_cast<std::uint32_t>(made.size() / 4)) {
      properties const found = validate(expand(fold(g, made, made, saved)));
      EXPECT_EQ(found.steps, 2 * made.size() - saved);
    }
  }
}

TEST(Covering, HalvesOfChainsServeTheVerbsByPieces) {
  generator random(17);
  for (group const& g : some_groups()) {
    chain const made = covering_chain(g, covering_shifts(g, random));
    for (auto const what : {verb::reduce_scatter, verb::allgather}) {
      auto const whole = fold(g, made, made);
      schedule half = expand(what == verb::allgather ? allgather_of(whole) : reduce_scatter_of(whole));
      half.verb = what;
      EXPECT_EQ(validate(half).steps, made.size());
    }
  }
}

TEST(Covering, CapsAreKeptOnEveryChainOverEveryGroup) {
  generator random(19);
  for (group const& g : some_groups()) {
    chain const whole = covering_chain(g, covering_shifts(g, random));
    for (rank_t const cap : {1u, 2u, 3u}) {
      chain const capped = with_cap(whole, cap);
      std::size_t steps = 0;
      for (auto const& step : whole) {
        std::size_t most = 0;
        for (transfer const& sent : step) most = std::max(most, sent.lags.size());
        steps += (most + cap - 1) / cap;
      }
      EXPECT_EQ(capped.size(), steps);
      for (auto const& step : capped)
        for (transfer const& sent : step) EXPECT_TRUE(!sent.lags.empty() && sent.lags.size() <= cap);
      EXPECT_EQ(validate(expand(fold(g, capped, capped))).steps, 2 * steps);
    }
  }
}

/// Inside the subgroup of the fastest digits, whose cosets are neighbours, before shifts that reach the other cosets.
TEST(Covering, ChainsOfSubgroupsBeforeThoseOfTheirCosetsAreHierarchies) {
  generator random(23);
  int checked = 0;
  for (group const& g : some_groups()) {
    rank_t width = 1;
    for (rank_t const n : g.factors()) {
      width *= n;
      if (width == 1 || width == g.order()) continue;
      auto const cosets_of = [&](std::set<element> const& elements) {
        std::set<element> cosets;
        for (element const e : elements) cosets.insert(e / width);
        return cosets.size();
      };
      shift_list inside, between;
      while (sums_of(g, inside).size() < width) {
        auto longer = inside;
        longer.insert(longer.begin(), {1 + below(random, width - 1)});
        if (sums_of(g, longer).size() > sums_of(g, inside).size()) inside = longer;
      }
      for (int tries = 0; tries < 300 && cosets_of(sums_of(g, between)) < g.order() / width; ++tries) {
        auto longer = between;
        longer.insert(longer.begin(), {width + below(random, g.order() - width)});
        auto const sums = sums_of(g, longer);
        if (sums.size() > sums_of(g, between).size() && cosets_of(sums) == sums.size()) between = longer;
      }
      if (cosets_of(sums_of(g, between)) < g.order() / width) continue;  // a coset twice, whatever follows
      ++checked;
      shift_list steps = inside;
      steps.insert(steps.end(), between.begin(), between.end());
      chain const made = covering_chain(g, steps);
      bool const stays_inside_first =
          std::ranges::is_sorted(made, {}, [&](auto const& step) { return step.front().shift >= width; });
      EXPECT_TRUE(stays_inside_first);
      EXPECT_NO_THROW(validate(expand(fold(g, made, made))));
    }
  }
  EXPECT_GT(checked, 20);
}

/// Rotations are a normal subgroup of index 2, and the quotient is Z_2: one exchange, then any chain of rotations.
TEST(Covering, ChainsOfAQuotientBeforeThoseOfItsNormalSubgroupAreChains) {
  for (rank_t ranks = 4; ranks <= 64; ranks += 2) {
    shift_list steps{{ranks - 1}};
    for (rank_t const s : skips(ranks / 2)) steps.push_back({2 * s});
    group const g = group::dihedral(ranks);
    chain const made = covering_chain(g, steps);
    EXPECT_EQ(made.front().front().lags.size(), ranks / 2);
    EXPECT_EQ(validate(expand(fold(g, made, made))).steps, 2 * (1 + testing::ceil_log(ranks / 2, 2)));
  }
}

bool alike(chain const& a, chain const& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].size() != b[i].size()) return false;
    for (std::size_t k = 0; k < a[i].size(); ++k)
      if (a[i][k].shift != b[i][k].shift || a[i][k].lags.size() != b[i][k].lags.size()) return false;
  }
  return true;
}

TEST(Covering, FindsTheChainsOfTheFieldFromTheirShifts) {
  for (rank_t ranks = 2; ranks <= 100; ++ranks) {
    group const g = group::cyclic(ranks);
    for (chain const& known :
         {circulant_chain(ranks, 2), interval_chain(ranks, 2), dilated_chain(ranks, 2), ring_chain(ranks)}) {
      shift_list steps;
      for (auto const& step : known) steps.push_back({step.front().shift});
      EXPECT_TRUE(alike(covering_chain(g, steps), known)) << ranks << " by " << steps.front().front();
    }
  }
}

TEST(Covering, PortsShareWhatAStepSends) {
  chain const made = covering_chain(group::cyclic(9), {{3, 6}, {1, 2}});
  ASSERT_EQ(made.size(), 2u);
  for (auto const& step : made) {
    ASSERT_EQ(step.size(), 2u);
    EXPECT_EQ(step[0].lags.size(), step[1].lags.size());
  }
  // Lag 3 may go by 1 to 2, or by 2 to 1: the one that has less takes it.
  chain const shared = covering_chain(group::cyclic(4), {{1, 2}, {1}});
  EXPECT_EQ(shared.front()[0].lags.size() + shared.front()[1].lags.size(), 2u);
}

TEST(Covering, StepsOfARadixTakeSumsOfTheirShift) {
  EXPECT_EQ(in_radix(group::cyclic(27), {9, 3, 1}, 3), (shift_list{{9, 18}, {3, 6}, {1, 2}}));
  EXPECT_EQ(in_radix(group::cyclic(6), {3, 2}, 4), (shift_list{{3}, {2, 4}}));
  EXPECT_EQ(in_radix(group::dihedral(10), {3, 2}, 4), (shift_list{{3}, {2, 4, 6}}));
  EXPECT_THROW(in_radix(group::cyclic(6), {1}, 1), schedule_error);
  for (rank_t radix = 2; radix <= 5; ++radix)
    for (rank_t ranks = radix; ranks <= 200; ranks *= radix) {
      std::string shifts;
      for (rank_t s = ranks / radix; s > 0; s /= radix) shifts += (shifts.empty() ? "" : "+") + std::to_string(s);
      std::string const text = "fold(radix=" + std::to_string(radix) + ",shifts=" + shifts + ")";
      properties const found = validate(schedule_of(text, ranks));
      EXPECT_EQ(found.steps, 2 * testing::ceil_log(ranks, radix)) << text;
      EXPECT_EQ(found.fan_in, radix - 1) << text;
      EXPECT_EQ(found.received_max, found.volume_bound) << text;
    }
}

}  // namespace
}  // namespace coset::schedule
