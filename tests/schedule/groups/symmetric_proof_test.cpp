// SPDX-License-Identifier: Apache-2.0
// What is proved once for all ranks, against what is found in schedules that are written out.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "planning/schedule/core/verbs.hpp"
#include "planning/schedule/groups/symmetric_proof.hpp"
#include "planning/schedule/model/proved.hpp"
#include "planning/schedule/registry/named_fold.hpp"
#include "schedule/effort.hpp"

namespace coset::schedule {
namespace {

/// Dimensions, of which the last is 2 where that divides.
std::vector<std::string> dimensions_of(rank_t ranks) {
  std::vector<std::string> all;
  for (rank_t a = 1; a <= ranks; ++a) {
    if (ranks % a != 0) continue;
    rank_t const b = ranks / a;
    all.push_back(value_of(std::vector{a, b}, 'x'));
    if (b % 2 == 0) all.push_back(value_of(std::vector{a, rank_t{2}, b / 2}, 'x'));
  }
  return all;
}

std::vector<std::string> chains_of(rank_t ranks) {
  std::vector<std::string> all{"fold(shifts=circulant)", "fold(shifts=generalized)"};
  if (ranks % 2 == 0) all.emplace_back("fold(group=dihedral,shifts=swing)");
  if (ranks == 12) all.emplace_back("fold(group=4x3,shifts=direct)");
  if (ranks == 20) all.emplace_back("fold(group=d10x2,shifts=naive)");
  if (ranks == 21) all.emplace_back("fold(group=3.7.2,shifts=naive)");
  return all;
}

/// Of a row with some values of the parameters that change folds.
std::vector<algorithm> some_of(named_algorithm const& row, rank_t ranks) {
  std::vector<algorithm> all{{row.name, {}}};
  auto const vary = [&](char const* key, std::vector<std::string> const& values, bool keeps_default) {
    if (std::ranges::find(row.parameters, key, &parameter::name) == row.parameters.end()) return;
    auto const before = std::exchange(all, keeps_default ? all : std::vector<algorithm>());
    for (algorithm const& how : before)
      for (std::string const& value : values) {
        all.push_back(how);
        all.back().parameters[key] = value;
      }
  };
  if (row.name == "fold") {
    all.clear();
    for (auto const& text : chains_of(ranks)) all.push_back(algorithm::parse(text));
  }
  vary("dims", dimensions_of(ranks), false);
  vary("factors", dimensions_of(ranks), false);
  vary("radix", {"3", "4"}, true);
  vary("saved_steps", {"1", "2", "3", "4"}, true);
  vary("cap", {"2"}, true);
  return all;
}

void expect_equal(properties const& alike, properties const& written, std::string const& what) {
  EXPECT_EQ(alike.steps, written.steps) << what;
  EXPECT_EQ(alike.sent_max, written.sent_max) << what;
  EXPECT_EQ(alike.received_max, written.received_max) << what;
  EXPECT_EQ(alike.combined_max, written.combined_max) << what;
  EXPECT_EQ(alike.volume_bound, written.volume_bound) << what;
  EXPECT_EQ(alike.fan_in, written.fan_in) << what;
  EXPECT_EQ(alike.rank_uniform, written.rank_uniform) << what;
  EXPECT_EQ(alike.ordered, written.ordered) << what;
}

std::optional<symmetric_schedule> form_of(algorithm const& how, rank_t ranks, verb what) try {
  return symmetric_form(completed(how), ranks, what);
} catch (schedule_error const&) {  // not for so many ranks
  return {};
}

TEST(SymmetricProof, FindsWhatIsFoundInTheScheduleWrittenOut) {
  std::size_t compared = 0;
  for (rank_t ranks = 1; ranks <= by_effort<rank_t>(17, 40, 64); ++ranks)
    for (named_algorithm const& row : registry())
      for (verb const what : {verb::allreduce, verb::reduce_scatter, verb::allgather, verb::barrier}) {
        if (!serves(row, what)) continue;
        for (algorithm const& how : some_of(row, ranks)) {
          auto const form = form_of(how, ranks, what);
          if (!form) continue;
          std::string const text = how.text() + " on " + std::to_string(ranks) + ", " + std::string(name_of(what));
          expect_equal(validate(*form, what), validate(make(how, ranks, what)), text);
          ++compared;
        }
      }
  EXPECT_GT(compared, 5000u);
}

template <typename Schedule, typename... More>
bool is_refused(Schedule const& s, More... more) try {
  (void)validate(s, more...);
  return false;
} catch (schedule_error const&) {
  return true;
}

/// Each source of some that are right is read from elsewhere; few of these are right as well, as blocks have several holders.
TEST(SymmetricProof, RefusesWhatIsRefusedWrittenOut) {
  std::size_t refused = 0, wrong_ones = 0;
  for (char const* const text : {"generalized", "ring", "direct", "product(dims=4x2)", "generalized(saved_steps=1)"}) {
    auto const right = form_of(algorithm::parse(text), 8, verb::allreduce).value();
    for (std::size_t s = 0; s < right.sources.size(); ++s) {
      auto wrong = right;
      wrong.sources[s].displacement = (wrong.sources[s].displacement + 1) % 8;
      bool const is_wrong = is_refused(expand(wrong, source_order::as_generated));
      EXPECT_EQ(is_refused(wrong, verb::allreduce), is_wrong) << text << ", source " << s;
      ++wrong_ones;
      refused += is_wrong;
    }
    auto late = right;
    late.steps.pop_back();
    EXPECT_TRUE(is_refused(late, verb::allreduce)) << text;
  }
  EXPECT_GT(refused, wrong_ones / 2);
}

/// Whichever have a form, and those that have none.
TEST(SymmetricProof, CountsWhatIsCountedInTheScheduleWrittenOut) {
  cost_model const model = cost_model::flat(100, 1, 0.5);
  for (rank_t ranks = 2; ranks <= by_effort<rank_t>(9, 17, 33); ++ranks) {
    demand const wanted{.ranks = ranks, .same_bits = false, .idempotent = true};
    level_machine const on(ranks, model);
    for (algorithm const& how : candidates_for(wanted, model)) {
      auto const one = count_proved(how, wanted, on), other = count(how, wanted, on);
      std::string const text = how.text() + " on " + std::to_string(ranks);
      ASSERT_EQ(one.has_value(), other.has_value()) << text;
      if (!one) continue;
      expect_equal(one->found, other->found, text);
      double const seconds = other->work.seconds(1000);
      EXPECT_NEAR(one->work.seconds(1000), seconds, 1e-9 * seconds) << text;
    }
  }
}

/// What the rows promise, whatever the number of ranks.
struct closed_figures {
  std::string algorithm;
  std::uint32_t (*steps)(rank_t);
  fraction (*received)(rank_t);
  fraction (*combined)(rank_t);
};

std::uint32_t ceil_log2(rank_t p) { return static_cast<std::uint32_t>(std::bit_width(p - 1)); }
fraction twice_others(rank_t p) { return {2 * (std::int64_t{p} - 1), p}; }
fraction others(rank_t p) { return {std::int64_t{p} - 1, p}; }
std::uint32_t twice_log(rank_t p) { return 2 * ceil_log2(p); }
std::uint32_t twice_each(rank_t p) { return 2 * (p - 1); }

std::vector<closed_figures> const closed{
    {"direct", [](rank_t) { return 2u; }, twice_others, others},
    {"generalized", twice_log, twice_others, others},
    {"circulant", twice_log, twice_others, others},
    {"bruck", twice_log, twice_others, others},
    {"dilated", twice_log, twice_others, others},
    {"swing", twice_log, twice_others, others},
    {"ring", twice_each, twice_others, others},
    {"naive", twice_each, twice_others, others},
};

TEST(SymmetricProof, ThousandsOfRanksHaveTheFiguresOfFew) {
  auto const expect = [](closed_figures const& c, rank_t ranks, properties const& found) {
    EXPECT_EQ(found.steps, c.steps(ranks)) << c.algorithm << " on " << ranks;
    EXPECT_EQ(found.received_max, c.received(ranks)) << c.algorithm << " on " << ranks;
    EXPECT_EQ(found.combined_max, c.combined(ranks)) << c.algorithm << " on " << ranks;
    EXPECT_TRUE(found.rank_uniform) << c.algorithm << " on " << ranks;
  };
  for (closed_figures const& c : closed) {
    for (rank_t const ranks : {2, 3, 6, 12, 31, 32})
      if (c.algorithm != "swing" || ranks % 2 == 0) expect(c, ranks, validate(make({c.algorithm, {}}, ranks)));
    for (rank_t const ranks : {4096, 100'000})
      expect(c, ranks, proved_schedule({c.algorithm, {}}, ranks, verb::allreduce).found());
  }
}

/// Trees, whose values are runs of ranks: these are followed as such beyond 8,192 ranks.
TEST(SymmetricProof, ManyRanksAreFollowedAsRuns) {
  auto tree = make({"binomial", {}}, 9000);
  auto const found = validate(tree);
  EXPECT_EQ(found.steps, 28u);
  EXPECT_TRUE(found.rank_uniform && found.ordered);
  for (auto& step : tree.steps)
    for (assignment& a : step)
      if (a.count == 2 && a.rank == 0) tree.sources[a.first + 1].rank = 1;  // over and over again
  EXPECT_THROW(validate(tree), schedule_error);
}

TEST(SymmetricProof, LessRoomIsKeptToAsLongAsItIsLimited) {
  {
    room_limit const soon(1000);
    EXPECT_THROW(make({"unequal", {{"nodes", "20+20"}}}, 40), no_room);
    EXPECT_EQ(proved_schedule({"ring", {}}, 40, verb::allreduce).found().steps, 78u);
  }
  EXPECT_EQ(make({"unequal", {{"nodes", "20+20"}}}, 40).ranks, 40u);
}

}  // namespace
}  // namespace coset::schedule
