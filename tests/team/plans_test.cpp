// SPDX-License-Identifier: Apache-2.0
// Every algorithm under every storage that serves it, executed by real threads.
#include "planning/program/program.hpp"
#include "planning/schedule/core/validate.hpp"
#include "support/plan_texts.hpp"
#include "support/reductions.hpp"
#include "support/teams.hpp"

namespace coset::team_test {
namespace {

std::vector<std::size_t> const counts{1, 5, 64, 1000, 3, 4097, 0, 7, 65537};

class Plans : public ::testing::TestWithParam<rank_t> {
 protected:
  team ranks{options_for(GetParam())};
  bool const every_pair = test::wanted_effort() == test::effort::large;  ///< else in place or not, by turns
  std::size_t number = 0;
  bool counts_once = true;  ///< what the operation tried last demands of a schedule

  /// Takes another count, type and operation each time. False if the storage would lose a value.
  bool executes(std::string const& algorithm, std::string const& storage) {
    bool served = false;
    ++number;
    counts_once = true;
    std::size_t const count = counts[number % counts.size()];
    with_combination(number * 3, [&]<class T, class Op>() {
      counts_once = !detail::is_idempotent<Op, T>;
      std::string const text = algorithm + " / " + storage + ": " + std::string(detail::name_of<Op>()) + " " +
                               std::string(detail::name_of<T>());
      // Contributions are small whole numbers: every bracketing gives the same bits.
      plan_options options{algorithm, storage, bits::per_rank};
      if (number % 3 == 0) options.segment_bytes = 1000;  // not a whole number of lines
      std::optional<plan<T, Op>> made;
      try {
        made.emplace(ranks, verb::allreduce, count, Op{}, options);
      } catch (schedule_error const&) {
        return;
      }
      served = true;
      for (bool const in_place : {false, true}) {
        if (!every_pair && in_place != (number / 5 % 2 == 0)) continue;
        shape const s{count, in_place, number % 2 == 0};
        SCOPED_TRACE(describe(ranks.size(), s, text));
        check_reduction<T, Op>(ranks, s, number,
                               [&](member& me, std::span<T> in, std::span<T> out) { made->execute(me, in, out); });
        if (HasFatalFailure()) return;
      }
    });
    return served;
  }
};

TEST_P(Plans, OfEveryAlgorithmAreServedByStagingAndRightUnderEveryStorageThatServesThem) {
  auto storages = program::policy_names();
  storages.insert(storages.end(), {"zero_copy+stream", "output+stream"});
  std::size_t const tried = test::by_effort<std::size_t>(1, 2, storages.size());
  std::size_t const stride = test::by_effort<std::size_t>(3, ranks.size() > 17 ? 7 : ranks.size() > 7 ? 3 : 1, 1);
  auto const texts = plan_texts(ranks.size());
  std::size_t served = 0, refused = 0, turn = 0;
  for (std::size_t at = ranks.size() % stride; at < texts.size(); at += stride) {
    std::string const& text = texts[at];
    bool const counts_twice = defined(text, ranks.size())->idempotent_only;
    bool const is_served = executes(text, "staged");
    EXPECT_EQ(is_served, !counts_twice || !counts_once) << text;
    for (std::size_t i = 0; i < tried; ++i) {
      bool const serves = executes(text, storages[turn++ % storages.size()]);
      EXPECT_LE(serves, !counts_twice || !counts_once) << text;
      ++(serves ? served : refused);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(served, refused);
  RecordProperty("served", std::to_string(served));
  RecordProperty("refused", std::to_string(refused));
}

/// Inexact numbers tell bracketings apart.
std::vector<double> inexact(rank_t rank, std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = 1.0 / static_cast<double>(3 + 7 * rank + i % 101);
  return values;
}

/// On many ranks: on few, the tests of bits have these.
TEST_P(Plans, OfInexactSumsGiveEveryRankTheSameBitsOrAreRefused) {
  if (ranks.size() <= 12 && !every_pair) return;
  std::size_t const count = 203;
  for (std::string const& text : plan_texts(ranks.size())) {
    auto const schedule = *defined(text, ranks.size());
    if (schedule.idempotent_only) continue;
    if (!schedule::validate(schedule).rank_uniform) {
      EXPECT_THROW((void)make_plan<double>(ranks, count, plus{}, {.algorithm = text}), schedule_error) << text;
      continue;
    }
    auto const sum = make_plan<double>(ranks, count, plus{}, {.algorithm = text});
    std::vector<std::vector<double>> results(ranks.size(), std::vector<double>(count));
    ranks.run([&](member& me) { sum.execute(me, inexact(me.rank(), count), results[me.rank()]); });
    for (auto const& result : results) ASSERT_EQ(result, results[0]) << text;
  }
}

TEST_P(Plans, OfDirectAddInRankOrder) {
  std::size_t const count = 4099;
  for (std::string const text : {"direct", "direct(saved_steps=1)"}) {
    if (!defined(text, ranks.size())) continue;
    auto const sum = make_plan<double>(ranks, count, plus{}, {.algorithm = text});
    std::vector<double> expected = inexact(0, count);
    for (rank_t r = 1; r < ranks.size(); ++r) {
      auto const next = inexact(r, count);
      for (std::size_t i = 0; i < count; ++i) expected[i] += next[i];
    }
    std::vector<std::vector<double>> results(ranks.size(), std::vector<double>(count));
    ranks.run([&](member& me) { sum.execute(me, inexact(me.rank(), count), results[me.rank()]); });
    for (auto const& result : results) ASSERT_EQ(result, expected) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Plans, ::testing::ValuesIn(team_sizes()), size_name);

TEST(Plan, OfAnUnknownAlgorithmOrStorageIsRefusedWithWhatThereIs) {
  team ranks(options_for(3));
  auto const refusal = [&](std::string const& algorithm, std::string const& storage) {
    return outcome_of([&] { (void)make_plan<int>(ranks, 10, plus{}, {algorithm, storage}); });
  };
  expect_everybody_threw<schedule_error>({refusal("rign", "auto")}, {"rign", "ring"});
  expect_everybody_threw<schedule_error>({refusal("direct", "stagd")}, {"stagd", "staged"});
  expect_everybody_threw<schedule_error>({refusal("product(dims=2x2)", "auto")}, {"2x2", "3"});
}

TEST(Plan, OfTwoOperationsWithTheSameNameStaysApart) {
  team ranks(options_for(2));
  auto const sum = [](int a, int b) { return a + b; };
  auto const larger = [](int a, int b) { return a < b ? b : a; };
  auto const adding = make_plan<int>(ranks, 1, sum);
  auto const choosing = make_plan<int>(ranks, 1, larger);
  std::atomic<int> added = 0, chosen = 0;
  ranks.run([&](member& me) {
    std::vector<int> one{5}, other{5};
    adding.execute(me, one, one);
    choosing.execute(me, other, other);
    added += one[0];
    chosen += other[0];
  });
  EXPECT_EQ(added, 2 * 10);
  EXPECT_EQ(chosen, 2 * 5);
}

TEST(Plan, ExecutedWithAnotherCountIsRefusedOnEveryRank) {
  team ranks(options_for(3));
  auto const sum = make_plan<int>(ranks, 10);
  expect_everybody_threw<argument_error>(outcomes(ranks,
                                                  [&](member& me) {
                                                    std::vector<int> in(11), out(10);
                                                    sum.execute(me, in, out);
                                                  }),
                                         {"10", "11"});
  expect_works(ranks);
}

TEST(Plan, OfAnotherTeamIsRefused) {
  team ranks(options_for(2)), others(options_for(2));
  auto const sum = make_plan<int>(others, 4);
  expect_everybody_threw<argument_error>(outcomes(ranks,
                                                  [&](member& me) {
                                                    std::vector<int> items(4);
                                                    sum.execute(me, items, items);
                                                  }),
                                         {"another team"});
  expect_works(ranks);
}

/// As many elements in all, in other pieces: another plan, and the one before comes back.
TEST(Plans, AreToldApartByTheCountsOfPieces) {
  team ranks({.ranks = 2, .place = placement::unbound});
  ranks.run([](member& me) {
    std::vector<int> const in{1, 2, 3, 4};
    for (std::size_t const first : {std::size_t{1}, std::size_t{3}, std::size_t{1}}) {
      std::vector<std::size_t> const pieces{first, 4 - first};
      std::vector<int> out(pieces[me.rank()], -1);
      reduce_scatter(me, in, out, pieces);
      for (std::size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], 2 * in[me.rank() * first + i]);
    }
  });
}

}  // namespace
}  // namespace coset::team_test
