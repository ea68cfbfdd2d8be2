// SPDX-License-Identifier: Apache-2.0
// What a rank keeps of the plans it has called, and when it forgets them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "coset/operations.hpp"
#include "planning/plan/binding.hpp"
#include "planning/plan/rank_plans.hpp"

namespace coset::planning {
namespace {

team_facts two_ranks() {
  team_facts facts;
  facts.ranks = 2;
  return facts;
}

class RankPlans : public ::testing::Test {
 protected:
  detail::call sum_of(std::size_t count) {
    return {.what = verb::allreduce,
            .in = in_.data(),
            .out = out_.data(),
            .count = count,
            .reduction = &detail::table_of<float, plus>()};
  }
  detail::bound_plan const& call(detail::call const& c, bool idle = true) {
    auto const& plan = plans_.plan_for(c, idle, false);
    plans_.note(c, plan);
    return plan;
  }
  /// As many shapes as are kept.
  void fill() {
    for (std::size_t count = 1; count <= rank_plans::most; ++count) call(sum_of(count));
  }

  std::array<float, 4> in_{}, out_{};
  plan_store store_{two_ranks()};
  rank_plans plans_{store_};
};

TEST_F(RankPlans, HasOnePlanForEachShape) {
  auto const& of_two = call(sum_of(2));
  auto const& of_three = call(sum_of(3));
  EXPECT_NE(&of_two, &of_three);
  EXPECT_EQ(&call(sum_of(2)), &of_two);
  EXPECT_EQ(plans_.all.size(), 2u);
}

/// Whichever length comes first. Just above 8 KiB another storage serves.
TEST_F(RankPlans, ChoosesByTheClassAndNotByWhatCameBefore) {
  auto const plans_of = [](std::vector<std::size_t> const& counts, auto const& sum_of) {
    plan_store store(two_ranks());
    std::map<std::size_t, std::pair<std::string, double>> found;
    for (std::size_t const count : counts) {
      auto const plan = store.of_call(sum_of(count));
      found[count] = {plan->words->choice, plan->words->seconds};
    }
    return found;
  };
  std::vector<std::size_t> counts{2047, 2048, 2049, 2150, 2304, 2305, 40'000, 40'001, 40'960};
  auto const sum = [this](std::size_t count) { return sum_of(count); };
  auto const upwards = plans_of(counts, sum);
  std::ranges::reverse(counts);
  EXPECT_EQ(plans_of(counts, sum), upwards);
  EXPECT_EQ(upwards.at(2049), upwards.at(2304));
  EXPECT_NE(upwards.at(2048), upwards.at(2049));
  EXPECT_NE(upwards.at(2304), upwards.at(2305));
}

/// What ranks run by, and what they tell each other of it.
void expect_the_same(detail::bound_plan const& a, detail::bound_plan const& b) {
  EXPECT_EQ(a.hash, b.hash);
  EXPECT_EQ(a.bytes, b.bytes);
  EXPECT_EQ(a.folds, b.folds);
  EXPECT_EQ(a.code->storage, b.code->storage);
  EXPECT_EQ(a.code->span, b.code->span);
  EXPECT_EQ(a.segments.number, b.segments.number);
  EXPECT_EQ(a.segments.count, b.segments.count);
  EXPECT_EQ(a.segments.layout.offset, b.segments.layout.offset);
  EXPECT_EQ(a.segments.layout.boundary, b.segments.layout.boundary);
  EXPECT_EQ(a.segments.last_layout.offset, b.segments.last_layout.offset);
  EXPECT_EQ(a.segments.last_layout.staging_bytes, b.segments.last_layout.staging_bytes);
  EXPECT_EQ(a.arrays.shares_outputs, b.arrays.shares_outputs);
  EXPECT_EQ(a.arrays.own, b.arrays.own);
  ASSERT_EQ(a.arrays.gives.size(), b.arrays.gives.size());
  for (std::size_t r = 0; r < a.arrays.gives.size(); ++r) {
    EXPECT_EQ(a.arrays.gives[r].begin, b.arrays.gives[r].begin);
    EXPECT_EQ(a.arrays.gives[r].end, b.arrays.gives[r].end);
    EXPECT_EQ(a.arrays.gets[r].begin, b.arrays.gets[r].begin);
    EXPECT_EQ(a.arrays.gets[r].end, b.arrays.gets[r].end);
  }
  EXPECT_EQ(a.candidacy.most_operands, b.candidacy.most_operands);
  EXPECT_EQ(a.candidacy.most_staging, b.candidacy.most_staging);
  EXPECT_EQ(a.words->choice, b.words->choice);
  ASSERT_EQ(a.candidacy.lessons == nullptr, b.candidacy.lessons == nullptr);
  if (a.candidacy.lessons == nullptr) return;
  ASSERT_EQ(a.candidacy.lessons->others.size(), b.candidacy.lessons->others.size());
  for (std::size_t k = 0; k < a.candidacy.lessons->others.size(); ++k)
    expect_the_same(*a.candidacy.lessons->others[k], *b.candidacy.lessons->others[k]);
}

/// A plan that is made from another one of its class, as a store makes it that has met that one, is the plan that a store makes which
/// has met none. Around the ends of classes, and of what entry lines have room for.
TEST_F(RankPlans, MakesThePlanOfALengthAsIfItWereTheFirst) {
  plan_store met(two_ranks());
  std::array<std::byte, 8> one_array;
  for (verb const what : all_verbs()) {
    if (what == verb::barrier) continue;
    for (bool const in_place : {false, true}) {
      if (in_place && (what == verb::reduce_shared || what == verb::allreduce_view)) continue;
      std::vector<std::shared_ptr<detail::bound_plan const>> kept;
      for (std::size_t count : {40'960, 40'000, 4098, 4096, 2304, 2150, 2050, 100, 98, 70,  36,  34,
                                32,     18,     16,   14,   12,   10,   2,    4,   38, 102, 4100}) {
        detail::call c{.what = what, .count = count};
        c.reduction = detail::only_moves(what) ? &detail::copy_of<float>() : &detail::table_of<float, plus>();
        if (in_place) c.in = c.out = one_array.data();
        kept.push_back(met.of_call(c));
        SCOPED_TRACE(std::string(name_of(what)) + " of " + std::to_string(count) + (in_place ? ", in place" : ""));
        expect_the_same(*kept.back(), *plan_store(two_ranks()).of_call(c));
        if (HasFailure()) return;
      }
    }
  }
}

/// Red if a plan that is made from another one of its class takes more staging than there is.
TEST_F(RankPlans, MakesNoPlanThatStagingHasNoRoomForOfOneThatItHas) {
  auto facts = two_ranks();
  facts.ranks = 13;
  facts.pointers = false;
  facts.most_staging = 63'440;  // 991 lines and a quarter
  plan_store met(facts);
  auto const staging_of = [](plan_store& store, std::size_t count) {
    detail::call const c{.what = verb::exclusive_scan, .count = count, .reduction = &detail::table_of<char, plus>()};
    try {
      return store.of_call(c)->segments.layout.staging_bytes;
    } catch (lacks_staging const&) {
      return std::size_t{0};
    }
  };
  for (std::size_t count = 31'500; count < 31'800; ++count) {
    plan_store fresh(facts);
    auto const staged = staging_of(met, count);
    ASSERT_LE(staged, facts.most_staging) << count;
    ASSERT_EQ(staged, staging_of(fresh, count)) << count;
  }
}

TEST_F(RankPlans, HasTheShapeCalledLastInFront) {
  auto const& plan = call(sum_of(2));
  std::size_t found = 0;
  for (auto const& [key, known] : plans_.front) found += known == &plan && key == shape::of(sum_of(2));
  EXPECT_EQ(found, 1u);
}

/// A program that alternates between a few lengths looks nothing up.
TEST_F(RankPlans, HasShapesOfOneVerbInFrontSideBySide) {
  for (std::size_t count = 1; count <= 64; ++count) call(sum_of(count));
  for (auto const& [key, plan] : plans_.front) EXPECT_NE(plan, nullptr);
}

TEST_F(RankPlans, KnowsTheSameCallOnTheSameArraysAgain) {
  auto const noted = sum_of(2);
  auto const& plan = call(noted);
  EXPECT_EQ(plans_.again(noted), &plan);
  auto other = noted;
  other.in = nullptr;
  EXPECT_EQ(plans_.again(other), nullptr);
  other = noted, other.out = in_.data();
  EXPECT_EQ(plans_.again(other), nullptr);
  other = noted, other.count = 3;
  EXPECT_EQ(plans_.again(other), nullptr);
  other = noted, other.reduction = &detail::table_of<int, plus>();
  EXPECT_EQ(plans_.again(other), nullptr);
  other = noted, other.what = verb::reduce;
  EXPECT_EQ(plans_.again(other), nullptr);
  other = noted, other.root = 1;
  EXPECT_EQ(plans_.again(other), nullptr);
}

/// Red if a plan object that lies where another one was has its arrays for checked, or goes on in place without such a plan.
TEST_F(RankPlans, KnowsAPlanObjectOnTheSameArraysAgain) {
  auto made = [](std::uint64_t id) {
    auto plan = std::make_shared<detail::bound_plan>();
    plan->id = id;
    return plan;
  };
  detail::plan_pair const plans{made(7), made(8)};
  detail::plan_arrays const arrays{in_.data(), 2, out_.data(), 2};
  EXPECT_EQ(plans_.again(plans, arrays), nullptr);
  plans_.note({7, arrays, true, in_.data(), out_.data()});
  ASSERT_NE(plans_.again(plans, arrays), nullptr);
  EXPECT_EQ(plans_.again(plans, arrays)->in, in_.data());
  for (std::size_t changed = 0; changed < 4; ++changed) {
    auto other = arrays;
    if (changed == 0) other.in = nullptr;
    if (changed == 1) other.in_count = 1;
    if (changed == 2) other.out = nullptr;
    if (changed == 3) other.out_count = 1;
    EXPECT_EQ(plans_.again(plans, other), nullptr) << changed;
  }
  EXPECT_EQ(plans_.again({made(9), made(8)}, arrays), nullptr);
  EXPECT_EQ(plans_.again({plans.apart, nullptr}, arrays), nullptr);
}

/// Their numbers may have changed while their address has not.
TEST_F(RankPlans, KnowsCallsWithCountsByTheirNumbers) {
  std::array<std::size_t, 2> counts{1, 2};
  auto pieces = sum_of(3);
  pieces.what = verb::reduce_scatter;
  pieces.counts = counts;
  auto const& plan = call(pieces);
  EXPECT_EQ(plans_.again(pieces), &plan);
  auto whole = pieces;
  whole.counts = {};
  EXPECT_EQ(plans_.again(whole), nullptr);
  counts = {2, 1};
  EXPECT_EQ(plans_.again(pieces), nullptr);
  EXPECT_NE(&call(pieces), &plan);
}

TEST_F(RankPlans, ForgetsAllWhenThereAreTooMany) {
  fill();
  ASSERT_EQ(plans_.all.size(), rank_plans::most);
  auto const& one_more = call(sum_of(rank_plans::most + 1));
  EXPECT_EQ(plans_.all.size(), 1u);
  std::size_t in_front = 0;
  for (auto const& [key, known] : plans_.front) {
    in_front += known != nullptr;
    EXPECT_TRUE(known == nullptr || known == &one_more);
  }
  EXPECT_EQ(in_front, 1u);
}

/// Red if a plan may end while another rank is about to make the same call.
TEST_F(RankPlans, KeepsWhatWasCalledForAsManyShapesMore) {
  std::weak_ptr<detail::bound_plan const> const first = store_.of_call(sum_of(1));
  call(sum_of(1));
  fill();
  call(sum_of(rank_plans::most + 1));
  EXPECT_FALSE(first.expired());
  call(sum_of(1));
  for (std::size_t count = 1; count <= rank_plans::most; ++count) call(sum_of(2 * rank_plans::most + count));
  EXPECT_FALSE(first.expired());
}

TEST_F(RankPlans, ForgetsNothingWhileOperationsNeedTheirPlans) {
  fill();
  call(sum_of(rank_plans::most + 1), false);
  EXPECT_EQ(plans_.all.size(), rank_plans::most + 1);
}

/// Red if a call for which staging has no room is refused though others can carry it out, or if it is bound anew each time.
TEST_F(RankPlans, HasPlansInPartsWhereStagingHasNoRoom) {
  auto facts = two_ranks();
  facts.pointers = false;  // so that everything is staged
  facts.most_staging = 1 << 16;
  plan_store small{facts};
  rank_plans of_small(small);
  std::vector<std::size_t> const pieces{1, (1 << 20) - 1};
  for (verb const what : {verb::reduce_scatter, verb::allgather, verb::gather, verb::scatter}) {
    auto too_long = sum_of(1 << 20);
    too_long.what = what;
    if (detail::only_moves(what)) too_long.reduction = &detail::copy_of<float>();
    too_long.counts = pieces;
    auto const& plan = of_small.plan_for(too_long, true, false);
    EXPECT_TRUE(plan.goes_in_parts()) << name_of(what);
    EXPECT_EQ(plan.arrays.gives.size(), 2u) << name_of(what);
    EXPECT_EQ(&of_small.plan_for(too_long, true, false), &plan) << name_of(what);
  }
}

/// The plan noted last has gone with the others when the one that made them go cannot be made.
TEST_F(RankPlans, NotesNothingThatItHasForgotten) {
  auto facts = two_ranks();
  facts.pointers = false;  // so that everything is staged
  facts.most_staging = 1 << 16;
  plan_store small{facts};
  rank_plans of_small(small);
  for (std::size_t count = 1; count <= rank_plans::most; ++count) of_small.plan_for(sum_of(count), true, false);
  auto const last = sum_of(rank_plans::most);
  of_small.note(last, of_small.plan_for(last, true, false));
  ASSERT_NE(of_small.again(last), nullptr);
  struct huge {
    std::byte of[1 << 20];
  };
  auto too_long = sum_of(1);
  too_long.what = verb::broadcast;
  too_long.reduction = &detail::copy_of<huge>();
  EXPECT_THROW(of_small.plan_for(too_long, true, false), lacks_staging);
  EXPECT_EQ(of_small.again(last), nullptr);
}

}  // namespace
}  // namespace coset::planning
