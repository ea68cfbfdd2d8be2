// SPDX-License-Identifier: Apache-2.0
// How calls are to run: rules that apply, the library's own choice, and what is refused with which words.
#include "planning/plan/call_choice.hpp"

#include <gmock/gmock.h>

#include <array>
#include <vector>

#include "coset/operations.hpp"
#include "planning/plan/plan_store.hpp"
#include "planning/plan/shape.hpp"
#include "planning/schedule/core/validate.hpp"

namespace coset::planning {
namespace {

using program::area;
using ::testing::HasSubstr;

team_facts some_ranks(rank_t ranks) {
  team_facts facts;
  facts.ranks = ranks;
  facts.node_leaders.assign(ranks, 0);
  return facts;
}

/// Of two ranks each.
team_facts hosts(rank_t number, bool pointers) {
  team_facts facts = some_ranks(2 * number);
  for (rank_t h = 0; h < number; ++h) {
    facts.spread.domains.push_back(2 * h);
    facts.spread.processes.push_back({2 * h, 1});
  }
  facts.spread.domains.push_back(facts.ranks);
  facts.pointers = pointers;
  return facts;
}
team_facts two_hosts(bool pointers) { return hosts(2, pointers); }

detail::call sum_of(std::size_t count, verb what = verb::allreduce) {
  return {.what = what, .count = count, .reduction = &detail::table_of<float, plus>()};
}

std::byte array;
detail::call in_one_array(detail::call c) {
  c.in = c.out = &array;
  return c;
}

calibration::rule rule_of(verb what, std::string const& algorithm) {
  return {.what = what, .ranks = 0, .from = 0, .to = SIZE_MAX, .how = {.algorithm = algorithm}, .named_by = "RULE"};
}

TEST(Rules, ServeCallsInPlaceUnlessTheySayOtherwise) {
  for (bool const in_place_too : {false, true}) {
    team_facts facts = some_ranks(4);
    for (verb const what : {verb::allreduce, verb::reduce}) {
      facts.choices.append(rule_of(what, "direct"));
    }
    team_facts apart = some_ranks(4);
    for (calibration::rule r : facts.choices.rules()) {
      r.in_place_too = in_place_too;
      apart.choices.append(r);
    }
    EXPECT_NE(rule_for(apart, sum_of(10)), nullptr);
    EXPECT_EQ(rule_for(apart, in_one_array(sum_of(10))) != nullptr, in_place_too);
    // To these it makes no difference.
    EXPECT_NE(rule_for(apart, sum_of(10, verb::reduce)), nullptr);
    EXPECT_NE(rule_for(apart, in_one_array(sum_of(10, verb::reduce))), nullptr);
    EXPECT_EQ(rule_for(apart, sum_of(10, verb::scan)), nullptr);
  }
}

bool is_staged(choice::answer const& chosen) {
  return chosen.storage.first == area::staging && chosen.storage.later == area::staging;
}

TEST(Defaults, ReachNoArraysAcrossProcesses) {
  std::size_t not_staged = 0;
  for (std::size_t const count : {1u, 1000u, 100'000u, 10'000'000u}) {
    for (verb const what : {verb::allreduce, verb::reduce, verb::allgather}) {
      team_facts facts = some_ranks(4);
      not_staged += !is_staged(default_for(facts, sum_of(count, what)));
      facts.pointers = false;
      EXPECT_TRUE(is_staged(default_for(facts, sum_of(count, what))));
    }
  }
  EXPECT_GT(not_staged, 0u);
}

TEST(Defaults, BetweenHostsReachNoArraysAcrossProcesses) {
  std::size_t not_staged = 0;
  for (std::size_t const count : {1u, 1000u, 100'000u, 10'000'000u}) {
    for (verb const what : {verb::allreduce, verb::reduce, verb::allgather}) {
      not_staged += !is_staged(default_for(two_hosts(true), sum_of(count, what)));
      EXPECT_TRUE(is_staged(default_for(two_hosts(false), sum_of(count, what))));
    }
  }
  EXPECT_GT(not_staged, 0u);
}

TEST(Defaults, KnowWhatIsInPlace) {
  for (team_facts const& facts : {some_ranks(4), two_hosts(true)}) {
    EXPECT_FALSE(default_for(facts, sum_of(1000)).storage.in_place);
    EXPECT_TRUE(default_for(facts, in_one_array(sum_of(1000))).storage.in_place);
    EXPECT_TRUE(default_for(facts, sum_of(1000, verb::reduce)).storage.in_place);
  }
}

TEST(Defaults, KeepTheOrderOfTheRanksWhereThatMatters) {
  std::size_t unordered = 0;
  for (team_facts const& facts : {some_ranks(6), two_hosts(true), hosts(12, true), hosts(23, true)}) {
    for (std::size_t const count : {1u, 1000u, 100'000u}) {
      auto const keeps_order = [&](detail::call const& c) {
        auto const chosen = default_for(facts, c);
        return schedule::validate(schedule::make(chosen.algorithm, facts.ranks, choice::schedule_of(c.what), 0))
            .ordered;
      };
      detail::call ordered = sum_of(count);
      ordered.reduction = &detail::table_of<int, noncommutative<plus>>();
      EXPECT_TRUE(keeps_order(ordered));
      unordered += !keeps_order(sum_of(count));
    }
  }
  EXPECT_GT(unordered, 0u);
}

std::string refusal(team_facts const& facts, detail::call const& c, plan_options const& options) {
  try {
    (void)changed(default_for(facts, c), options, facts, c);
  } catch (schedule_error const& e) {
    return e.what();
  }
  return "";
}

TEST(Options, AreRefusedWithWhatTheyWouldDo) {
  team_facts const facts = some_ranks(6);
  detail::call ordered = sum_of(100);
  ordered.reduction = &detail::table_of<int, noncommutative<plus>>();
  EXPECT_THAT(refusal(facts, sum_of(100), {.algorithm = "butterfly"}),
              HasSubstr("butterfly on 6 ranks counts contributions twice, which coset::plus of float does not allow"));
  EXPECT_THAT(refusal(facts, sum_of(100), {.algorithm = "generalized(saved_steps=1)"}),
              HasSubstr("gives the ranks different bits for coset::plus of float"));
  EXPECT_EQ(refusal(facts, sum_of(100), {.algorithm = "generalized(saved_steps=1)", .required = bits::per_rank}), "");
  EXPECT_THAT(refusal(facts, ordered, {.algorithm = "generalized"}),
              HasSubstr("generalized on 6 ranks does not keep the order of the ranks, which"));
  EXPECT_EQ(refusal(facts, ordered, {.algorithm = "direct"}), "");
  EXPECT_EQ(refusal(facts, ordered, {.algorithm = "ring"}), "");
  for (char const* const text : {"fold(group=3x2,shifts=direct)", "fold(group=dihedral,shifts=direct)"})
    EXPECT_EQ(refusal(facts, ordered, {.algorithm = text}), "") << text;
}

TEST(Options, OfStorageThatReachesArraysNeedOneProcess) {
  team_facts facts = some_ranks(4);
  for (bool const pointers : {true, false}) {
    facts.pointers = pointers;
    for (std::string const storage : {"zero_copy", "output"}) {
      auto const text = refusal(facts, sum_of(100), {.storage = storage});
      EXPECT_EQ(text, pointers ? "" : "storage " + storage + " needs ranks of one process");
    }
    // Inputs are read where they are within a process.
    for (std::string const storage : {"staged", "pull"})
      EXPECT_EQ(refusal(facts, sum_of(100), {.storage = storage}), "");
  }
}

TEST(Options, ReplaceWhatTheyName) {
  team_facts const facts = some_ranks(4);
  detail::call const c = in_one_array(sum_of(1'000'000));
  choice::answer const usual = default_for(facts, c);
  auto const chosen = [&](plan_options const& options) { return changed(usual, options, facts, c); };
  EXPECT_EQ(chosen({}).algorithm.text(), usual.algorithm.text());
  EXPECT_EQ(chosen({}).storage, usual.storage);
  EXPECT_EQ(chosen({}).segment_bytes, usual.segment_bytes);
  EXPECT_EQ(chosen({.segment_bytes = 4096}).segment_bytes, 4096u);
  EXPECT_EQ(chosen({.algorithm = "ring"}).algorithm.text(), "ring");
  EXPECT_TRUE(is_staged(chosen({.algorithm = "ring"})));
  EXPECT_TRUE(chosen({.algorithm = "ring"}).storage.in_place);
  EXPECT_TRUE(chosen({.storage = "staged_pull"}).storage.in_place);
  EXPECT_EQ(chosen({.storage = "staged_pull"}).storage.how, program::copies::pull);
}

/// Red if another algorithm, whose bits depend on where blocks begin, is cut as the default is.
TEST(Options, OfAlgorithmsAreNotCutAsTheDefaultIs) {
  team_facts facts = some_ranks(4);
  facts.pointers = false;
  facts.memory.own_cache_bytes = 1 << 20;
  detail::call const c = sum_of(4'000'000);
  choice::answer const usual = default_for(facts, c);
  EXPECT_EQ(usual.segment_bytes, 128u << 10);
  EXPECT_EQ(changed(usual, {.algorithm = "ring"}, facts, c).segment_bytes, 0u);
  EXPECT_EQ(changed(usual, {.algorithm = "direct"}, facts, c).segment_bytes, usual.segment_bytes);
  EXPECT_EQ(changed(usual, {.algorithm = "ring", .segment_bytes = 4096}, facts, c).segment_bytes, 4096u);
}

/// A rule for each verb, which no rank can serve; the same reason is said once, whatever the size.
TEST(RefusedRules, AreThoseOfEveryVerbOnce) {
  for (verb const what : all_verbs()) {
    if (what == verb::barrier) continue;
    team_facts facts = some_ranks(4);
    facts.choices.append(rule_of(what, "unequal(nodes=3+3)"));
    auto const refused = plan_store(facts).refused_rules();
    ASSERT_EQ(refused.size(), 1u) << name_of(what);
    EXPECT_THAT(refused[0], HasSubstr("RULE, unequal(nodes=3+3)"));
  }
}

/// The first rule that applies differs.
TEST(RefusedRules, AreAlsoThoseOfCallsInPlace) {
  team_facts facts = some_ranks(6);
  facts.choices.append(rule_of(verb::allreduce, "direct"));
  facts.choices.append(rule_of(verb::allreduce, "butterfly"));
  EXPECT_TRUE(plan_store(facts).refused_rules().empty());
  calibration::rule apart_alone = facts.choices.rules()[0];
  apart_alone.in_place_too = false;
  team_facts other = some_ranks(6);
  other.choices.append(apart_alone);
  other.choices.append(facts.choices.rules()[1]);
  EXPECT_EQ(plan_store(other).refused_rules().size(), 1u);
}

TEST(RefusedRules, AreNoneWhereAllServe) {
  team_facts facts = some_ranks(4);
  EXPECT_TRUE(plan_store(facts).refused_rules().empty());
  for (verb const what : all_verbs()) facts.choices.append(rule_of(what, "direct"));
  EXPECT_THAT(plan_store(facts).refused_rules(), ::testing::IsEmpty());
}

/// Sums are what ordinary calls are of: what would count twice is refused where something is counted.
TEST(RefusedRules, AreOfSumsWhereSomethingIsCombined) {
  team_facts facts = some_ranks(6);
  facts.choices.append(rule_of(verb::allreduce, "butterfly"));
  auto const refused = plan_store(facts).refused_rules();
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_THAT(refused[0], HasSubstr("which coset::plus of float does not allow"));
}

}  // namespace
}  // namespace coset::planning
