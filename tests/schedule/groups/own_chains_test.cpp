// SPDX-License-Identifier: Apache-2.0
// Chains that are given by their shifts, over groups that need not commute: the covering theorem, Swing, Bine, PAT.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <set>
#include <tuple>

#include "schedule/core/validate.hpp"
#include "schedule/effort.hpp"
#include "schedule/groups/chains.hpp"
#include "schedule/groups/covering.hpp"
#include "schedule/groups/some_groups.hpp"
#include "schedule/groups/symmetric_verbs.hpp"
#include "schedule/parts/part_of.hpp"
#include "schedule/registry/foldings.hpp"
#include "schedule/schedules.hpp"

namespace coset::schedule {
namespace {

using testing::below;
using testing::generator;
using testing::schedule_of;

std::uint32_t ceil_log2(rank_t n) { return static_cast<std::uint32_t>(std::bit_width(n - 1)); }

properties of(std::string const& text, rank_t ranks, collective verb = collective::allreduce, rank_t root = 0) {
  return validate(schedule_of(text, ranks, verb, root));
}

std::string refusal(std::string const& text, rank_t ranks) {
  try {
    of(text, ranks);
  } catch (schedule_error const& e) {
    return e.what();
  }
  return "accepted";
}

/// The sums of some of the shifts, the last one first, with at most one of each step.
std::set<element> sums_of(group const& g, shift_list const& steps) {
  std::set<element> sums{0};
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    auto const later = sums;
    for (element const s : *step)
      for (element const e : later) sums.insert(g.add(e, s));
  }
  return sums;
}

shift_list random_shifts(group const& g, generator& random) {
  shift_list steps(1 + below(random, 7));
  for (auto& step : steps)
    for (rank_t n = 1 + below(random, 2); n > 0; --n) step.push_back(1 + below(random, g.order() - 1));
  return steps;
}

/// Until they reach all: what is added last comes first.
shift_list covering_shifts(group const& g, generator& random) {
  shift_list steps;
  for (auto known = sums_of(g, steps).size(); known < g.order();) {
    steps.insert(steps.begin(), {1 + below(random, g.order() - 1)});
    auto const now = sums_of(g, steps).size();
    if (now == known) steps.erase(steps.begin());
    known = now;
  }
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
    for (auto const verb : {collective::reduce_scatter, collective::allgather}) {
      auto const whole = fold(g, made, made);
      schedule half = expand(verb == collective::allgather ? allgather_of(whole) : reduce_scatter_of(whole));
      half.verb = verb;
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
    EXPECT_EQ(validate(expand(fold(g, made, made))).steps, 2 * (1 + ceil_log2(ranks / 2)));
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
      properties const found = of(text, ranks);
      EXPECT_EQ(found.steps, 2 * testing::ceil_log(ranks, radix)) << text;
      EXPECT_EQ(found.fan_in, radix - 1) << text;
      EXPECT_EQ(found.received_max, found.volume_bound) << text;
    }
}

// --- Names and refusals.

TEST(OwnChains, AreRefusedWithTheFirstViolatedCondition) {
  EXPECT_EQ(refusal("fold(shifts=8+4+2)", 16),
            "the shifts reach 8 of 16 elements: no sum of some of them, the last one first, is 1");
  EXPECT_EQ(refusal("fold(shifts=16+8+4+2+1)", 16), "step 0, shift 16: there are only 16 elements");
  EXPECT_EQ(refusal("fold(radix=3,shifts=30+9+3+1)", 27), "step 0, shift 30: there are only 27 elements");
  EXPECT_EQ(refusal("fold(radix=1,shifts=ring)", 27), "radix = 1 folds nothing; take 2 or more");
  EXPECT_EQ(refusal("fold(shifts=8+0+4+2+1)", 16), "step 1, shift 0: shift 0 leaves every rank with what it has");
  EXPECT_EQ(refusal("fold(shifts=3+8+4+2+1)", 16),
            "step 0, shift 3: it reaches nothing that later steps do not reach; leave it out");
  EXPECT_EQ(refusal("fold(group=dihedral,shifts=3+1+1)", 8),
            "step 1, shift 1: it reaches nothing that later steps do not reach; leave it out");
  EXPECT_EQ(
      refusal("fold(group=dihedral,shifts=swing)", 7),
      "a dihedral group acts on an even number of ranks, not on 7: half of its elements are reflections; a cyclic "
      "group acts on any number");
  EXPECT_EQ(
      refusal("fold(shifts=swing)", 8),
      "fold(cap=0,group=cyclic,ordered=0,radix=2,saved_steps=0,shifts=swing): the exchanges of swing are elements "
      "of group=dihedral");
  EXPECT_EQ(refusal("fold", 8), "fold needs the parameter shifts");
  EXPECT_EQ(refusal("fold(shifts=1+two)", 3),
            "fold(cap=0,group=cyclic,ordered=0,radix=2,saved_steps=0,shifts=1+two): shifts takes whole numbers, a step "
            "after the other, like 11+6+3+2+1, or 3.5 where a step has several, or the name of a chain; not 'two'");
  EXPECT_EQ(
      refusal("fold(shifts=1.2,radix=3)", 3),
      "fold(cap=0,group=cyclic,ordered=0,radix=3,saved_steps=0,shifts=1.2): a step of several shifts has its radix; "
      "leave radix out");
  EXPECT_EQ(refusal("fold(group=4x2,shifts=circulant)", 8),
            "fold(cap=0,group=4x2,ordered=0,radix=2,saved_steps=0,shifts=circulant): the shifts of circulant are for "
            "group=cyclic; over others write numbers");
  EXPECT_EQ(refusal("fold(group=4x3,shifts=naive)", 13), "group=4x3: its order is not the number of ranks, 13");
  EXPECT_EQ(refusal("fold(group=binary,shifts=naive)", 12), "group=binary: 12 ranks are no power of two");
  for (std::string const wrong : {"", "x", "4y3", "d", "dx3", "d4.2.1", "3.7", "3.7.2.1", "-3"})
    EXPECT_EQ(refusal("fold(group=" + wrong + "?,shifts=naive)", 12).substr(0, 6), "group=") << wrong;
}

TEST(OwnChains, AreOverTheGroupThatIsNamed) {
  EXPECT_EQ(group_of("cyclic", 12).factors(), std::vector<rank_t>{12});
  EXPECT_EQ(group_of("binary", 8).factors(), (std::vector<rank_t>{2, 2, 2}));
  EXPECT_EQ(group_of("binary", 1).order(), 1u);
  EXPECT_EQ(group_of("4x3", 12).factors(), (std::vector<rank_t>{4, 3}));
  EXPECT_EQ(group_of("3.7.2", 21).factors(), (std::vector<rank_t>{3, 7}));
  EXPECT_EQ(group_of("d6x2", 12).factors(), (std::vector<rank_t>{2, 3, 2}));
  EXPECT_FALSE(group_of("dihedral", 6).commutes());
  EXPECT_FALSE(group_of("2xd6", 12).commutes());
  EXPECT_FALSE(group_of("3.7.2", 21).commutes());
  EXPECT_TRUE(group_of("3.7.1", 21).commutes());
  EXPECT_THROW(group_of("65536x65536", 0), schedule_error);
  EXPECT_THROW(group_of("4294967295x4294967295x4294967295", 1), schedule_error);
  for (std::string const text :
       {"fold(group=3.7.2,shifts=1+2+3+6+12)", "fold(group=7x3,shifts=3+2+1+7+14)", "fold(group=21,shifts=naive)",
        "fold(group=3.7.2,shifts=direct)", "fold(group=3.7.2,shifts=naive,cap=1)", "fold(shifts=circulant,radix=3)",
        "fold(shifts=generalized,cap=2)", "fold(shifts=dilated,ordered=1)", "fold(shifts=bruck)", "fold(shifts=ring)"})
    for (collective const verb : find_algorithm("fold").verbs) EXPECT_NO_THROW(of(text, 21, verb, 7)) << text;
  EXPECT_TRUE(of("fold(shifts=dilated,ordered=1)", 21).ordered);
  EXPECT_TRUE(of("fold(shifts=10+5+2+1+1,saved_steps=2)", 19).steps == 8);
}

TEST(OwnChains, ProductsTakeARadixInEachDimension) {
  for (rank_t radix = 2; radix <= 4; ++radix) {
    std::string const text = "product(dims=9x5,radix=" + std::to_string(radix) + ")";
    properties const found = of(text, 45);
    EXPECT_EQ(found.steps, 2 * (testing::ceil_log(9, radix) + testing::ceil_log(5, radix)));
    EXPECT_EQ(found.fan_in, radix - 1);
    EXPECT_EQ(found.received_max, found.volume_bound);
  }
  EXPECT_EQ(of("product(dims=9x5,radix=0)", 45).fan_in, 8u);
  EXPECT_EQ(refusal("product(dims=9x5,radix=1)", 45), "radix = 1 folds nothing; take 2 or more");
  EXPECT_EQ(of("two_level(nodes=3*12,between=product,dims=4x3)", 36).steps, 6u);
  EXPECT_EQ(of("two_level(nodes=3*12,between=product,dims=12,radix=3)", 36).steps, 8u);
  EXPECT_EQ(of("two_level(nodes=3*12,radix=2)", 36).steps, 10u);
}

// --- The sources' counts.

TEST(Swing, TakesCeilLogStepsAndTheLeastVolumeForEveryEvenNumberOfRanks) {
  for (rank_t ranks = 2; ranks <= by_effort<rank_t>(64, 130, 400); ranks += 2)
    for (std::string const text : {"swing", "bine", "bine(far=1)", "fold(group=dihedral,shifts=swing)"}) {
      properties const found = of(text, ranks);
      EXPECT_EQ(found.steps, 2 * ceil_log2(ranks)) << text << " P=" << ranks;
      EXPECT_EQ(found.received_max, found.volume_bound) << text << " P=" << ranks;
      EXPECT_EQ(found.fan_in, 1u);
      EXPECT_TRUE(found.rank_uniform);
    }
}

TEST(Swing, CoversTheGroupOfEveryEvenNumberOfRanks) {
  for (rank_t ranks = 2; ranks <= 1024; ranks += ranks < 256 ? 2 : 34) {
    EXPECT_NO_THROW(covering_chain(group::dihedral(ranks), swing_shifts(ranks))) << ranks;
    EXPECT_NO_THROW(covering_chain(group::dihedral(ranks), swing_shifts(ranks, true))) << ranks;
  }
}

TEST(Swing, ExchangesOverTheDistancesOfThePaper) {
  // (1 − (−2)^(s+1)) / 3, forwards from even ranks and backwards from odd ones.
  std::int64_t const distances[] = {1, -1, 3, -5, 11, -21};
  schedule const made = schedule_of("swing", 64);
  for (std::size_t step = 0; step < 6; ++step)
    for (rank_t r = 0; r < 64; ++r) {
      auto const peer = static_cast<rank_t>((r + 64 + (r % 2 == 0 ? distances[step] : -distances[step])) % 64);
      EXPECT_EQ(testing::read_from(made, step, r), (std::set<rank_t>{r, peer}));
      EXPECT_EQ(testing::read_from(made, 11 - step, r), std::set<rank_t>{peer});
    }
  schedule const far = schedule_of("bine(far=1)", 64);
  EXPECT_EQ(testing::read_from(far, 0, 0), (std::set<rank_t>{0, 43}));
  EXPECT_EQ(testing::read_from(schedule_of("bine", 64), 0, 0), (std::set<rank_t>{0, 1}));
}

TEST(Swing, SavesStepsDownToWholeVectors) {
  for (rank_t const ranks : {2u, 6u, 8u, 12u, 20u, 33u})
    for (std::uint32_t saved = 0; saved <= ceil_log2(ranks & ~1u); ++saved) {
      std::string const text = "swing(saved_steps=" + std::to_string(saved) + ")";
      properties const found = of(text, ranks);
      EXPECT_EQ(found.steps, 2 * ceil_log2(ranks & ~1u) - saved + (ranks % 2) * 2) << text << " P=" << ranks;
    }
  EXPECT_EQ(of("swing(saved_steps=3)", 8).received_max, fraction(3));
}

TEST(Swing, TheLastOfAnOddNumberOfRanksHasItsBlocksFoldedBefore) {
  for (rank_t ranks = 3; ranks <= 65; ranks += 2) {
    properties const found = of("swing", ranks);
    std::int64_t const even = ranks - 1;
    EXPECT_EQ(found.steps, 2 * ceil_log2(ranks - 1) + 2) << ranks;
    EXPECT_EQ(found.combined_max, fraction(1)) << ranks;
    EXPECT_EQ(found.received_max, std::max(fraction(1), fraction(2 * (even - 1) + 1, even))) << ranks;
    EXPECT_TRUE(found.rank_uniform) << ranks;
  }
}

TEST(Swing, ServesEveryVerbOnEveryNumberOfRanks) {
  for (rank_t ranks = 1; ranks <= by_effort<rank_t>(16, 64, 64); ++ranks)
    for (std::string const text : {"swing", "bine(far=1)", "swing(saved_steps=1)", "pat", "pat(cap=3)"}) {
      if (text == "swing(saved_steps=1)" && ranks == 1) continue;
      for (collective const verb : find_algorithm("swing").verbs)
        ASSERT_NO_THROW(of(text, ranks, verb, ranks / 3)) << text << " P=" << ranks << " " << name_of(verb);
    }
  for (rank_t const ranks : {130u, by_effort<rank_t>(131, 258, 1024), by_effort<rank_t>(132, 259, 1000)})
    for (std::string const text : {"swing", "pat(cap=16)"}) EXPECT_NO_THROW(of(text, ranks)) << text << " P=" << ranks;
}

/// Hops times volume on a ring, mean over ranks.
double hops_times_volume(schedule const& made) {
  double sum = 0;
  for (auto const& step : made.steps)
    for (assignment const& a : step)
      for (source const& s : made.from(a)) {
        rank_t const apart = s.rank < a.rank ? a.rank - s.rank : s.rank - a.rank;
        sum += std::min(apart, made.ranks - apart) * made.blocks[a.block].size.value();
      }
  return sum / made.ranks;
}

TEST(Swing, StaysNearOnARingWhereChainsOfHalvesGoFar) {
  auto const one_way = [](std::string const& text, rank_t ranks) {
    return hops_times_volume(schedule_of(text, ranks)) / 2;
  };
  EXPECT_NEAR(one_way("swing", 64), 2.11, 0.005);
  EXPECT_NEAR(one_way("swing", 128), 2.45, 0.005);
  EXPECT_NEAR(one_way("bine(far=1)", 64), 14.1, 0.05);
  EXPECT_NEAR(one_way("bine(far=1)", 128), 28.6, 0.05);
  EXPECT_NEAR(one_way("generalized", 64), 21.3, 0.05);
  EXPECT_NEAR(one_way("generalized", 128), 42.7, 0.05);
  EXPECT_LT(one_way("swing", 100), 2.86);
}

TEST(Pat, IsTheDilatedChainWithAtMostCapBlocksAStep) {
  for (rank_t ranks = 2; ranks <= 64; ++ranks) {
    EXPECT_EQ(of("pat", ranks).steps, 2 * ceil_log2(ranks));
    EXPECT_EQ(of("pat(cap=1)", ranks).steps, 2 * (ranks - 1));
    for (rank_t const cap : {2u, 4u, 8u}) {
      properties const found = of("pat(cap=" + std::to_string(cap) + ")", ranks);
      EXPECT_EQ(found.received_max, found.volume_bound);
      if (std::has_single_bit(ranks) && cap < ranks) {
        EXPECT_EQ(found.steps, 2 * (ranks / cap - 1 + ceil_log2(cap)));
      }
    }
  }
  EXPECT_TRUE(of("fold(shifts=dilated,cap=4)", 24).steps == of("pat(cap=4)", 24).steps);
}

// --- One rank's part, made without the whole.

TEST(OwnChains, OneRanksPartIsItsPartOfTheWhole) {
  generator random(29);
  for (group const& g : testing::groups_in_one_order(20)) {
    chain const made = covering_chain(g, covering_shifts(g, random));
    for (std::uint32_t const saved : {0u, 1u, static_cast<std::uint32_t>(made.size())}) {
      auto const symmetric = fold(g, made, made, std::min(saved, static_cast<std::uint32_t>(made.size())));
      schedule const whole = expand(symmetric);
      std::vector<rank_t> ones;
      for (rank_t r = 0; r <= g.order(); ++r) ones.push_back(r);
      for (rank_t r = 0; r < g.order(); ++r) {
        part const alone = part_of(symmetric, r), cut = part_of(whole, ones, r);
        ASSERT_EQ(alone.own.sources, cut.own.sources);
        ASSERT_EQ(alone.remote.size(), cut.remote.size());
        for (std::size_t k = 0; k < cut.remote.size(); ++k) {
          EXPECT_EQ(alone.remote[k].rank, cut.remote[k].rank);
          EXPECT_EQ(alone.remote[k].slot, cut.remote[k].slot);
          EXPECT_EQ(alone.remote[k].partial, cut.remote[k].partial);
        }
        ASSERT_EQ(alone.departures.size(), cut.departures.size());
        for (std::size_t i = 0; i < cut.departures.size(); ++i) {
          auto const key = [](departure const& d) { return std::tuple(d.block, d.slot, d.to, d.partial); };
          std::multiset<std::tuple<block_t, slot_t, rank_t, bool>> mine, theirs;
          for (auto const& d : alone.departures[i]) mine.insert(key(d));
          for (auto const& d : cut.departures[i]) theirs.insert(key(d));
          ASSERT_EQ(mine, theirs);
        }
      }
    }
  }
}

}  // namespace
}  // namespace coset::schedule
