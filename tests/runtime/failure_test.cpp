// SPDX-License-Identifier: Apache-2.0
// Exceptions, aborts and what they leave behind: nobody hangs, nobody touches freed memory, the next run works.
#include <latch>
#include <random>
#include <stdexcept>
#include <thread>

#include "runtime/memory/lines.hpp"
#include "support/teams.hpp"

namespace coset::team_test {
namespace {

struct Failure : ::testing::TestWithParam<rank_t> {
  team ranks{options_for(GetParam())};
};

/// The first rank's exception is what run() throws; all others are told that it left.
template <class Thrown>
void expect_one_leaves(team& ranks, rank_t who, std::function<void(member&)> const& body) {
  std::vector<outcome> others(ranks.size());
  auto const at_run = outcome_of([&] {
    ranks.run([&](member& me) {
      if (me.rank() == who) return body(me);
      others[me.rank()] = outcome_of([&] {
        for (;;) body(me);
      });
    });
  });
  EXPECT_EQ(at_run.type, type_name<Thrown>()) << at_run.message;
  EXPECT_EQ(at_run.message, "told so");
  others.erase(others.begin() + who);
  expect_everybody_threw<aborted>(others, {"rank " + std::to_string(who), "told so"});
  expect_works(ranks);
}

TEST_P(Failure, OfABodyIsRethrownByRunAndAbortsTheOthers) {
  for (rank_t who = 0; who < ranks.size(); ++who) {
    expect_one_leaves<std::domain_error>(ranks, who, [who](member& me) {
      for (int i = 0; i < 5; ++i) barrier(me);
      if (me.rank() == who) throw std::domain_error("told so");
    });
  }
}

TEST_P(Failure, OfAllBodiesIsRethrownOnce) {
  EXPECT_THROW(ranks.run([](member&) { throw std::domain_error("everybody"); }), std::domain_error);
  EXPECT_THROW(ranks.run([](member&) { throw 7; }), int);
  expect_works(ranks);
}

/// Small, staged, and folded in peers' memory.
constexpr std::size_t counts[]{2, 4097, 300'007};

template <class Thrown>
void expect_operation_that_throws_aborts(team& ranks) {
  if (ranks.size() == 1) return;  // nothing to combine
  for (std::size_t const count : counts) {
    for (rank_t const who : {0u, ranks.size() / 2, ranks.size() - 1}) {
      std::size_t left = 3 * count / ranks.size();  // some calls go well; touched by one rank alone
      auto const body = [&](member& me) {
        bool const throws = me.rank() == who;
        std::vector<int> in(count, 1), out(count);  // freed by the unwinding
        allreduce(me, in, out, [&left, throws](int a, int b) {
          if (throws && left-- == 0) throw Thrown("told so");
          return a + b;
        });
      };
      expect_one_leaves<Thrown>(ranks, who, [&](member& me) {
        for (;;) body(me);
      });
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST_P(Failure, OfAnOperationAbortsTheOthers) { expect_operation_that_throws_aborts<std::runtime_error>(ranks); }

TEST_P(Failure, OfAnOperationThatThrowsAnErrorOfCosetsAbortsTheOthersJustSo) {
  expect_operation_that_throws_aborts<argument_error>(ranks);
}

TEST_P(Failure, OfAnOperationThatThrowsNoExceptionAbortsTheOthers) {
  if (ranks.size() == 1) return;  // nothing to combine
  for (bool const in_split_phase : {false, true}) {
    rank_t const who = ranks.size() - 1;
    auto const all = outcomes(ranks, [&](member& me) {
      std::vector<int> in(100, 1), out(100);
      auto const op = [throws = me.rank() == who](int a, int b) { return throws ? throw 7 : a + b; };
      for (;;) in_split_phase ? start_allreduce(me, in, out, op).wait() : allreduce(me, in, out, op);
    });
    for (rank_t r = 0; r < ranks.size(); ++r)
      EXPECT_EQ(all[r].type, r == who ? type_name<int>() : type_name<aborted>());
    expect_works(ranks);
  }
}

/// The rank catches what its operation threw: the others must not need it to leave.
TEST_P(Failure, OfAnOperationIsToldToTheOthersEvenIfItsRankStays) {
  if (ranks.size() == 1) return;
  std::latch others_left(ranks.size() - 1);
  auto all = outcomes(ranks, [&](member& me) {
    std::vector<int> items(1000, 1);
    outcome const mine = outcome_of([&] {
      allreduce(me, items, [&me](int a, int b) { return me.rank() == 0 ? throw argument_error("told so") : a + b; });
      barrier(me);
    });
    me.rank() == 0 ? others_left.wait() : others_left.count_down();
    EXPECT_EQ(mine.type, me.rank() == 0 ? type_name<argument_error>() : type_name<aborted>()) << mine.message;
  });
  expect_works(ranks);
}

TEST_P(Failure, InAnyPlaceAtAnyTimeEndsEveryRankAndFreesNothingInUse) {
  std::mt19937 choices(GetParam());
  auto const shared = make_plan<double>(ranks, 100'000, plus{}, {.storage = "zero_copy"});
  for (int storm = 0; storm < test::by_effort(20, 200, 2000); ++storm) {
    auto const who = static_cast<rank_t>(choices() % ranks.size());
    int const when = static_cast<int>(choices() % 4);
    auto const thrown = outcome_of([&] {
      ranks.run([&](member& me) {
        std::vector<double> in(shared.count(), 1), out(shared.count());
        for (int call = 0;; ++call) {
          if (me.rank() == who && call == when && storm % 2 == 0) throw std::domain_error("told so");
          if (me.rank() == who && call == when) ranks.abort("told so");
          shared.execute(me, in, out);
          if (out.front() != me.size() || out.back() != me.size()) throw std::logic_error("a wrong sum");
        }
      });
    });
    ASSERT_EQ(thrown.type, storm % 2 == 0 ? type_name<std::domain_error>() : type_name<aborted>()) << thrown.message;
    ASSERT_EQ(thrown.message, "told so");
  }
  expect_works(ranks);
}

TEST_P(Failure, ByAbortFromAnotherThreadReachesRanksThatCallOnAndOn) {
  std::latch under_way(1);
  std::thread other([&] {
    under_way.wait();
    ranks.abort("enough of it");
  });
  auto const all = outcomes(ranks, [&](member& me) {
    barrier(me);
    if (me.rank() == 0) under_way.count_down();
    for (;;) barrier(me);
  });
  other.join();
  expect_everybody_threw<aborted>(all, {"enough of it"});
  expect_works(ranks);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Failure, ::testing::Values(1, 2, 3, 5, 8, 12), size_name);

struct Abort : ::testing::TestWithParam<waiting> {};

TEST_P(Abort, WakesRanksThatWaitForOneThatDoesNotCome) {
  rank_t const p = std::min<rank_t>(topology::machine().cores(), 3);
  if (p < 2) return;
  team ranks(options_for(p, GetParam()));
  for (int round = 0; round < 20; ++round) {
    std::latch others_left(p - 1), waiting_begins(p - 1);
    std::thread other([&] {
      waiting_begins.wait();
      ranks.abort("nobody comes");
    });
    auto all = outcomes(ranks, [&](member& me) {
      if (me.rank() == p - 1) return others_left.wait();
      auto const mine = outcome_of([&] {
        waiting_begins.count_down();
        barrier(me);
      });
      others_left.count_down();
      EXPECT_EQ(mine.type, type_name<aborted>()) << mine.message;
    });
    other.join();
  }
  expect_works(ranks);
}

INSTANTIATE_TEST_SUITE_P(Waits, Abort,
                         ::testing::Values(waiting::automatic, waiting::spin, waiting::yield, waiting::block));

TEST(AbortBetweenRuns, LeavesTheNextOneAlone) {
  team ranks(options_for(3));
  ranks.abort("nothing runs");
  expect_works(ranks);
}

/// The record of a failure lies between other lines of the arena.
TEST(Failures, OfManyWordsAreCutToTheRecordsSize) {
  team ranks(options_for(2));
  std::string const many(5000, 'x');
  outcome other;
  EXPECT_THROW(ranks.run([&](member& me) {
    if (me.rank() == 1) throw std::runtime_error(many);
    other = outcome_of([&] { barrier(me); });
  }),
               std::runtime_error);
  EXPECT_EQ(other.type, type_name<aborted>());
  EXPECT_EQ(other.message.find("rank 1 ended with an exception: xxx"), 0u) << other.message;
  EXPECT_LT(other.message.size(), sizeof(runtime::failure_record));
  expect_works(ranks);
}

struct throws_a_number {
  double operator()(double, double) const { throw 42; }
};
struct throws_words {
  double operator()(double, double) const { throw std::runtime_error("these words"); }
};

TEST(Failures, OfOperationsSayWhatWasThrownIfItHasWords) {
  team ranks(options_for(2));
  auto const message_of = [&](auto operation) {
    std::array<std::string, 2> said;
    (void)outcome_of([&] {
      ranks.run([&](member& me) {
        said[me.rank()] = outcome_of([&] { (void)allreduce(me, 1.0, operation); }).message;
        if (said[me.rank()].empty()) said[me.rank()] = outcome_of([&] { barrier(me); }).message;
      });
    });
    return said[0] + said[1];
  };
  EXPECT_NE(message_of(throws_words()).find("these words"), std::string::npos);
  std::string const numbers = message_of(throws_a_number());
  EXPECT_NE(numbers.find("the operation threw"), std::string::npos) << numbers;
  EXPECT_EQ(numbers.find("threw:"), std::string::npos) << numbers;
}

}  // namespace
}  // namespace coset::team_test
