// SPDX-License-Identifier: Apache-2.0
// Calls at the edges of what is allowed: arrays of nothing, plans in place, pieces longer than staging, wrong counts.
#include <gmock/gmock.h>

#include <numeric>

#include "support/hosts.hpp"
#include "team/team_state.hpp"
#include "variable.hpp"

namespace coset::team_test {
namespace {

using ::testing::HasSubstr;

template <class Error>
void expect_refused(std::function<void()> const& what, std::string const& words) {
  outcome const left = outcome_of(what);
  EXPECT_EQ(left.type, type_name<Error>()) << left.message;
  EXPECT_THAT(left.message, HasSubstr(words));
}

/// All ranks are told at their next call, if not by their own.
void expect_refused_everywhere(team& ranks, std::function<void(member&)> const& call, std::string const& words) {
  expect_everybody_threw<argument_error>(outcomes(ranks,
                                                  [&](member& me) {
                                                    call(me);
                                                    barrier(me);
                                                  }),
                                         {words});
  expect_works(ranks);
}

class Calls : public ::testing::TestWithParam<rank_t> {
 protected:
  rank_t const p = GetParam();
  team ranks{{.ranks = p, .place = placement::unbound}};
};

/// Where a rank gives or gets nothing it may name any place.
TEST_P(Calls, OfArraysOfNothingMeetNobodys) {
  ranks.run([&](member& me) {
    std::vector<int> x(10, 1);
    bool const is_root = me.rank() + 1 == p;
    std::vector<int> sum(10);
    reduce(me, x, is_root ? std::span(sum) : std::span(x).subspan(3, 0), p - 1);
    EXPECT_EQ(std::ranges::count(sum, static_cast<int>(p)), is_root ? 10 : 0);
    EXPECT_TRUE(allreduce_view(me, std::span<int const>()).empty());
    auto const view = allreduce_view(me, x);
    EXPECT_EQ(view[9], static_cast<int>(p));
    EXPECT_TRUE(allreduce_view(me, view.first(0)).empty());
    // No output to have in common.
    std::vector<int> mine(1);
    reduce_shared(me, std::span(x).first(0), std::span(mine).first(0));
  });
}

TEST_P(Calls, OfOnesOwnArraysThatOverlapNameTheirBytes) {
  if (p == 1) return;
  std::vector<std::vector<int>> all(p, std::vector<int>(10 * p + 5));
  expect_refused_everywhere(
      ranks,
      [&](member& me) {
        std::span<int> const mine(all[me.rank()]);
        allgather(me, mine.subspan(5 + 10 * me.rank(), 10), mine.first(10 * p));
      },
      ": 40 bytes from ");
}

/// Pieces end where others' arrays begin, and begin where those end.
TEST_P(Calls, OfPiecesThatTouchOthersArraysAreRight) {
  // in 1, out 0, in 2, out 1, …, in 0, out p − 1.
  std::size_t const piece = 1000, both = piece + p * piece;
  std::vector<int> memory(p * both);
  for (rank_t r = 0; r < p; ++r)
    std::fill_n(memory.begin() + static_cast<std::ptrdiff_t>(r * both), piece, (r + 1) % p);
  ranks.run([&](member& me) {
    rank_t const before = (me.rank() + p - 1) % p;
    std::span<int> const all(memory);
    allgather(me, all.subspan(before * both, piece), all.subspan(me.rank() * both + piece, p * piece));
  });
  for (rank_t r = 0; r < p; ++r)
    for (rank_t from = 0; from < p; ++from)
      ASSERT_EQ(memory[r * both + piece + from * piece + 7], static_cast<int>(from)) << r;
}

TEST_P(Calls, WithCountsThatAreNotOnePerRankAreRefused) {
  for (std::size_t const number : {p - 1, p + 1}) {
    if (number == 0) continue;
    std::vector<std::size_t> counts(number, 0);
    counts[0] = 2 * p;
    std::string const words = std::to_string(number) + " counts for " + std::to_string(p) + " ranks";
    expect_refused_everywhere(
        ranks,
        [&](member& me) {
          std::vector<int> in(2 * p), out(me.rank() == 0 ? 2 * p : 0);
          reduce_scatter(me, in, out, counts);
        },
        words);
    expect_refused_everywhere(
        ranks,
        [&](member& me) {
          std::vector<int> in(me.rank() == 0 ? 2 * p : 0), out(2 * p);
          allgather(me, in, out, counts);
        },
        words);
  }
}

/// As many plans as are remembered, and no more.
TEST_P(Calls, OfEverNewLengthsKeepNoMorePlansThanTheyMay) {
  if (p > 1) return;
  ranks.run([](member& me) {
    std::vector<int> x(1500, 1);
    for (std::size_t count = 1; count <= x.size(); ++count) allreduce(me, std::span(x).first(count));
    EXPECT_LT(me.state().plans.all.size(), 500u);
  });
}

/// A whole array that is input and output of an allgather holds the rank's piece at its place; so does a reduce_scatter's.
TEST_P(Calls, OfPlansInPlaceTakeAndLeavePiecesWhereTheyBelong) {
  std::size_t const piece = 1000;
  auto const gather = make_plan<int>(ranks, verb::allgather, p * piece);
  auto const scatter = make_plan<int>(ranks, verb::reduce_scatter, p * piece);
  ranks.run([&](member& me) {
    std::vector<int> all(p * piece, -1);
    std::fill_n(all.begin() + static_cast<std::ptrdiff_t>(me.rank() * piece), piece, me.rank());
    gather.execute(me, all);
    for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], static_cast<int>(i / piece));
    scatter.execute(me, all);
    for (std::size_t i = me.rank() * piece; i < (me.rank() + 1) * piece; ++i)
      ASSERT_EQ(all[i], static_cast<int>(p * me.rank()));
  });
}

TEST_P(Calls, OfPlansWithOtherLengthsAreRefused) {
  auto const sum = make_plan<int>(ranks, 100);
  auto const nothing = make_plan<int>(ranks, 0);
  auto const to_first = make_plan<int>(ranks, verb::reduce, 100);
  std::vector<int> const some(100), more(101);
  std::vector<std::vector<int>> outputs(ranks.size(), some);
  expect_refused_everywhere(
      ranks, [&](member& me) { sum.execute(me, more, std::span(outputs[me.rank()]).first(100)); },
      "plan: the input has 101 elements, planned for 100");
  expect_refused_everywhere(
      ranks, [&](member& me) { sum.execute(me, some, std::span(outputs[me.rank()]).first(99)); },
      "plan: the output has 99 elements, planned for 100");
  expect_refused_everywhere(
      ranks, [&](member& me) { nothing.execute(me, some, std::span(outputs[me.rank()]).first(100)); }, "plan");
  ranks.run([&](member& me) {
    // What a rank does not get may have any length.
    std::vector<int> out(me.rank() == 0 ? 100 : 3);
    to_first.execute(me, some, out);
  });
}

TEST_P(Calls, OfPlansByMembersOfAnEarlierRunAreRefused) {
  std::vector<std::optional<member>> kept(p);
  std::vector<detail::plan_pair> plans(p);
  std::vector<int> x(10);
  ranks.run([&](member& me) {
    kept[me.rank()] = me.split(0);
    plans[me.rank()] =
        detail::make_plans(kept[me.rank()]->state().team, verb::allreduce, 10, detail::table_of<int, plus>(), {});
  });
  ranks.run([&](member& me) {
    std::vector<int> mine(10);
    plus const op;
    expect_refused<argument_error>(
        [&] {
          detail::execute(kept[me.rank()]->state(), plans[me.rank()], {mine.data(), 10, mine.data(), 10}, &op);
        },
        "has ended");
  });
}

TEST_P(Calls, BelongToTheRankThatStartedThem) {
  ranks.run([](member& me) {
    member part = me.split(0);
    std::vector<int> x(10);
    request under_way = start_allreduce(me, x);
    EXPECT_TRUE(under_way.belongs_to(me));
    EXPECT_FALSE(under_way.belongs_to(part));
    EXPECT_TRUE(request().belongs_to(me));
    under_way.wait();
  });
}

TEST_P(Calls, AreKnownAgain) {
  test::variable const new_team("COSET_IDLE", "0");
  team fresh(options_for(GetParam()));
  fresh.run([](member& me) {
    std::vector<int> x(10);
    detail::call const c{.what = verb::allreduce,
                         .in = x.data(),
                         .out = x.data(),
                         .count = 10,
                         .reduction = &detail::table_of<int, plus>()};
    EXPECT_EQ(me.state().plans.again(c), nullptr);
    plus const op;
    detail::call with = c;
    with.operation = &op;
    detail::run(me.state(), with);
    EXPECT_NE(me.state().plans.again(c), nullptr);
  });
}

INSTANTIATE_TEST_SUITE_P(Sizes, Calls, ::testing::Values(1, 2, 3), size_name);

TEST(PlansOf, WhatMakesNoSenseAreRefused) {
  team ranks({.ranks = 3, .place = placement::unbound});
  auto const plan_of = [&](verb what, std::size_t count, plan_options const& options = {}) {
    return [&, what, count, options] { (void)make_plan<int>(ranks, what, count, plus{}, options); };
  };
  for (verb const what : {verb::reduce_scatter, verb::allgather}) {
    expect_refused<argument_error>(plan_of(what, 10), "cannot have counts that are equal");
    expect_refused<argument_error>(plan_of(what, 10, {.counts = {5, 5}}), "cannot have counts [5, 5]");
    expect_refused<argument_error>(plan_of(what, 10, {.counts = {5, 5, 1}}), "cannot have counts [5, 5, 1]");
    EXPECT_NO_THROW(plan_of(what, 10, {.counts = {5, 5, 0}})());
    EXPECT_NO_THROW(plan_of(what, 9)());
  }
  expect_refused<argument_error>(plan_of(verb::allreduce_view, 10), "no plan of allreduce_view");
  expect_refused<argument_error>(plan_of(verb::reduce, 10, {.root = 3}), "root 3 of a plan for 3 ranks");
}

/// Staging that cannot grow: longer pieces go one after the other.
TEST(Processes, ExchangePiecesLongerThanStaging) {
  hosts on({{2, 1}}, false);
  for (bool const even : {true, false}) {
    for (bool const in_split_phase : {true, false}) {
      std::vector<std::size_t> const counts =
          even ? std::vector<std::size_t>(3, 60'000) : std::vector<std::size_t>{70'000, 0, 90'000};
      std::vector<std::size_t> begin(3);
      std::exclusive_scan(counts.begin(), counts.end(), begin.begin(), std::size_t{0});
      std::size_t const total = begin[2] + counts[2];
      auto const left = on.run([&](member& me) {
        auto const length = counts[me.rank()];
        std::vector<int> piece(length, static_cast<int>(me.rank()) + 1), all(total, -1);
        if (in_split_phase)
          start_allgather(me, piece, all, counts).wait();
        else
          allgather(me, piece, all, counts);
        for (rank_t r = 0; r < 3; ++r) {
          for (std::size_t i = 0; i < counts[r]; ++i) ASSERT_EQ(all[begin[r] + i], static_cast<int>(r) + 1);
        }
        if (in_split_phase)
          start_reduce_scatter(me, all, piece, counts).wait();
        else
          reduce_scatter(me, all, piece, counts);
        EXPECT_EQ(std::ranges::count(piece, 3 * (static_cast<int>(me.rank()) + 1)), std::ssize(piece));
      });
      for (auto const& process : left) EXPECT_EQ(process.message, "");
    }
  }
}

TEST(Processes, HaveAnOutputEach) {
  hosts on({{1}, {1}}, false);
  std::vector<std::vector<int>> outputs(2, std::vector<int>(10));
  on.run([&](member& me) { reduce_shared(me, std::vector<int>(10, 3), outputs[me.rank()]); });
  for (auto const& output : outputs) EXPECT_EQ(output, std::vector<int>(10, 6));
}

}  // namespace
}  // namespace coset::team_test
