// SPDX-License-Identifier: Apache-2.0
// Chains that are given by their shifts, by name, over groups that need not commute: refusals, Swing, Bine, PAT.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <set>
#include <tuple>

#include "effort.hpp"
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

using testing::covering_shifts;
using testing::generator;
using testing::schedule_of;

properties of(std::string const& text, rank_t ranks, verb what = verb::allreduce, rank_t root = 0) {
  return validate(schedule_of(text, ranks, what, root));
}

std::string refusal(std::string const& text, rank_t ranks) {
  try {
    of(text, ranks);
  } catch (schedule_error const& e) {
    return e.what();
  }
  return "accepted";
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
  EXPECT_EQ(refusal("fold(shifts=4+2+2+3)", 5),
            "step 3, shift 3: earlier steps have sent all that it could send; leave it out");
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
    for (verb const what : find_algorithm("fold").verbs) EXPECT_NO_THROW(of(text, 21, what, 7)) << text;
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
      EXPECT_EQ(found.steps, 2 * testing::ceil_log(ranks, 2)) << text << " P=" << ranks;
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

/// The last of an odd number of ranks has whole vectors a step after the others.
TEST(Swing, SavesStepsDownToWholeVectors) {
  for (rank_t const ranks : {2u, 3u, 6u, 7u, 8u, 12u, 20u, 21u, 33u}) {
    std::uint32_t const each_way = testing::ceil_log(ranks & ~1u, 2);
    for (std::uint32_t saved = 0; saved <= each_way; ++saved) {
      std::string const text = "swing(saved_steps=" + std::to_string(saved) + ")";
      std::uint32_t const one_more = ranks % 2 == 1 && saved == each_way ? 1 : 0;
      EXPECT_EQ(of(text, ranks).steps, 2 * each_way - saved + one_more) << text << " P=" << ranks;
      EXPECT_EQ(of(text, ranks, verb::reduce_scatter).steps, each_way) << text << " P=" << ranks;
    }
    EXPECT_EQ(of("swing", ranks, verb::barrier).steps, each_way + ranks % 2) << ranks;
  }
  EXPECT_EQ(of("swing(saved_steps=3)", 8).received_max, fraction(3));
  EXPECT_EQ(of("swing(saved_steps=3)", 9).received_max, fraction(4));
  EXPECT_EQ(refusal("swing(saved_steps=4)", 9),
            "saved_steps = 4 is out of range: this algorithm on 8 ranks can save 0 to 3");
  EXPECT_THROW(of("swing(saved_steps=4)", 9, verb::reduce_scatter), schedule_error);
}

std::vector<rank_t> odd_numbers() {
  std::vector<rank_t> odd{129, by_effort<rank_t>(131, 1001, 1001)};
  for (rank_t ranks = 3; ranks <= 65; ranks += 2) odd.push_back(ranks);
  return odd;
}

/// As many steps as the even number below, and the least volume.
TEST(Swing, TheLastOfAnOddNumberOfRanksCostsNoStepsAndNoVolume) {
  for (rank_t const ranks : odd_numbers())
    for (std::string const text : {"swing", "bine(far=1)"}) {
      std::uint32_t const each_way = testing::ceil_log(ranks - 1, 2);
      fraction const others(std::int64_t{ranks} - 1, ranks);
      for (verb const what : {verb::reduce_scatter, verb::allgather, verb::allreduce}) {
        properties const found = of(text, ranks, what);
        bool const is_both = what == verb::allreduce;
        EXPECT_EQ(found.steps, is_both ? 2 * each_way : each_way) << text << " P=" << ranks << " " << name_of(what);
        EXPECT_EQ(found.received_max, is_both ? others + others : others) << text << " P=" << ranks;
        EXPECT_EQ(found.sent_max, is_both ? others + others : others) << text << " P=" << ranks;
        EXPECT_EQ(found.combined_max, what == verb::allgather ? fraction(0) : others) << text << " P=" << ranks;
        EXPECT_LE(found.fan_in, (ranks - 1) / 2 + 1) << text << " P=" << ranks << " " << name_of(what);
        EXPECT_TRUE(found.rank_uniform) << text << " P=" << ranks << " " << name_of(what);
      }
    }
}

/// Blocks that the busiest rank reads in each step, all steps together.
std::size_t blocks_of_busiest(schedule const& made) {
  std::size_t sum = 0;
  for (auto const& step : made.steps) {
    std::vector<std::size_t> reads(made.ranks);
    for (assignment const& a : step)
      for (source const& s : made.from(a)) reads[a.rank] += s.rank != a.rank;
    sum += *std::ranges::max_element(reads);
  }
  return sum;
}

TEST(Swing, TheLastOfAnOddNumberOfRanksIsHardlyBusierThanTheOthersInAnyStep) {
  for (rank_t const ranks : odd_numbers())
    for (verb const what : {verb::reduce_scatter, verb::allgather}) {
      std::size_t const blocks = blocks_of_busiest(schedule_of("swing", ranks, what));
      EXPECT_LE(blocks, ranks - 2 + testing::ceil_log(ranks - 1, 2)) << "P=" << ranks << " " << name_of(what);
    }
  for (rank_t const cap : {1u, 2u, 4u})
    EXPECT_EQ(of("swing(cap=" + std::to_string(cap) + ")", 33, verb::reduce_scatter).fan_in, cap + 1);
}

/// The last rank as the root meets all others in one step, as the owners of their blocks.
TEST(Swing, TheLastOfAnOddNumberOfRanksIsARootLikeTheOthers) {
  for (rank_t ranks = 3; ranks <= 65; ranks += 2) {
    std::uint32_t const each_way = testing::ceil_log(ranks - 1, 2);
    for (verb const what : {verb::reduce, verb::broadcast}) {
      EXPECT_EQ(of("swing", ranks, what, ranks - 1).steps, each_way + 1) << ranks << " " << name_of(what);
      EXPECT_LE(of("swing", ranks, what, ranks - 2).steps, 2 * each_way) << ranks << " " << name_of(what);
    }
    for (verb const what : {verb::gather, verb::scatter})
      for (rank_t const root : {rank_t{0}, ranks - 2, ranks - 1})
        EXPECT_LE(of("swing", ranks, what, root).steps, each_way + (root + 1 == ranks))
            << ranks << " " << name_of(what) << " " << root;
  }
}

TEST(Swing, ServesEveryVerbOnEveryNumberOfRanks) {
  for (rank_t ranks = 1; ranks <= by_effort<rank_t>(16, 64, 64); ++ranks)
    for (std::string const text : {"swing", "bine(far=1)", "swing(saved_steps=1)", "pat", "pat(cap=3)"}) {
      if (text == "swing(saved_steps=1)" && ranks == 1) continue;
      for (verb const what : find_algorithm("swing").verbs)
        ASSERT_NO_THROW(of(text, ranks, what, ranks / 3)) << text << " P=" << ranks << " " << name_of(what);
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
    EXPECT_EQ(of("pat", ranks).steps, 2 * testing::ceil_log(ranks, 2));
    EXPECT_EQ(of("pat(cap=1)", ranks).steps, 2 * (ranks - 1));
    for (rank_t const cap : {2u, 4u, 8u}) {
      properties const found = of("pat(cap=" + std::to_string(cap) + ")", ranks);
      EXPECT_EQ(found.received_max, found.volume_bound);
      if (std::has_single_bit(ranks) && cap < ranks) {
        EXPECT_EQ(found.steps, 2 * (ranks / cap - 1 + testing::ceil_log(cap, 2)));
      }
    }
  }
  EXPECT_TRUE(of("fold(shifts=dilated,cap=4)", 24).steps == of("pat(cap=4)", 24).steps);
}

// --- One rank's part, made without the whole.

TEST(OwnChains, HaveAStepForEachStepThatIsGiven) {
  generator random(37);
  std::size_t made = 0, refused = 0;
  for (int round = 0; round < 2000; ++round) {
    rank_t const ranks = 3 + testing::below(random, 12);
    shift_list steps(1 + testing::below(random, 5));
    for (auto& step : steps) step.push_back(1 + testing::below(random, ranks - 1));
    try {
      EXPECT_EQ(chain_of_all(group::cyclic(ranks), steps).size(), steps.size()) << ranks;
      ++made;
    } catch (schedule_error const& e) {
      refused += std::string(e.what()).find("earlier steps have sent") != std::string::npos;
    }
  }
  EXPECT_GT(made, 100u);
  EXPECT_GT(refused, 0u);
}

TEST(OwnChains, OneRanksPartIsItsPartOfTheWhole) {
  test::sample parts(1, 7);
  generator random(29);
  for (group const& g : testing::groups_in_one_order(20)) {
    chain const made = covering_chain(g, covering_shifts(g, random));
    for (std::uint32_t const saved : {0u, 1u, static_cast<std::uint32_t>(made.size())}) {
      auto const symmetric = fold(g, made, made, std::min(saved, static_cast<std::uint32_t>(made.size())));
      schedule const whole = expand(symmetric);
      std::vector<rank_t> ones;
      for (rank_t r = 0; r <= g.order(); ++r) ones.push_back(r);
      for (rank_t r = 0; r < g.order(); ++r) {
        if (parts.skips()) continue;
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
