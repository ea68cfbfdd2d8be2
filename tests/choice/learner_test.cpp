// SPDX-License-Identifier: Apache-2.0
// Learners on machines of known times: what they end with, how soon, and what it costs.
#include "planning/choice/learner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "effort.hpp"

namespace coset::choice {
namespace {

/// A machine on which candidate k takes so long, and the caller's own work after it.
struct machine {
  std::vector<std::uint32_t> call;
  std::vector<std::uint32_t> own = std::vector<std::uint32_t>(call.size(), 1000);
  double noise = 0;  ///< at most this part more

  call_times times(unsigned k, std::mt19937_64& choices) const {
    double const more = 1 + noise * std::uniform_real_distribution<>()(choices);
    auto const took = static_cast<std::uint32_t>(call[k] * more);
    return {took, took + own[k]};
  }
};

/// Calls a learner as a rank does: it hears of each call at the next one, and decides on later ones ahead.
struct caller {
  learner learns;
  std::vector<unsigned> decided = {};  ///< on calls to come
  std::mt19937_64 choices{7};
  call_times before = {};
  std::vector<unsigned> taken = {};
  int rested = 0;  ///< calls that were not timed

  void call(machine const& on, int calls) {
    for (int i = 0; i < calls; ++i) {
      decided.push_back(learns.next());
      unsigned const k = decided.front();
      decided.erase(decided.begin());
      taken.push_back(k);
      call_times const took = on.times(k, choices);
      bool const rests = learns.rests();
      rested += rests;
      learns.called(rests ? call_times{} : before);
      before = rests ? call_times{} : took;
    }
  }
  /// How many of the last `calls` took candidate k.
  std::ptrdiff_t last(int calls, unsigned k) const { return std::count(taken.end() - calls, taken.end(), k); }
};

TEST(Learner, BeginsWithWhatItWouldTakeWithoutKnowledge) {
  for (unsigned candidates = 1; candidates <= learner::most_candidates; ++candidates)
    EXPECT_EQ(learner(candidates).next(), 0u);
}

/// A shape that is called a few times only is not worth a trial.
TEST(Learner, TriesNothingInTheFirstCalls) {
  caller c{learner(4)};
  c.call({{1000, 900, 800, 700}}, 10);
  EXPECT_EQ(c.last(10, 0), 10);
}

TEST(Learner, LeavesWhatIsFarSlowerAtOnce) {
  caller c{learner(3)};
  c.call({{1000, 30'000, 1100}}, 64);
  EXPECT_LE(c.last(64, 1), 5);
}

/// As where requests are under way at every call.
TEST(Learner, TriesNothingWithoutTimes) {
  learner learns(4);
  int others = 0;
  for (int k = 0; k < 10'000; ++k) {
    others += learns.next() != 0;
    learns.called({});
  }
  EXPECT_EQ(others, 0);
}

TEST(Learner, KeepsWhatItKnowsWhereNoTimesCome) {
  caller c{learner(2)};
  c.call({{1000, 500}}, 64);
  for (int k = 0; k < 100'000; ++k) c.learns.called({});
  EXPECT_EQ(c.learns.best(), 1u);
}

TEST(Learner, FindsTheFastestWithin64Calls) {
  for (unsigned candidates = 2; candidates <= learner::most_candidates; ++candidates) {
    for (unsigned fastest = 0; fastest < candidates; ++fastest) {
      for (std::uint32_t const slow : {1100u, 1400u, 10'000u}) {
        machine on{std::vector<std::uint32_t>(candidates, slow)};
        on.call[fastest] = 1000;
        on.noise = 0.05;
        caller c{learner(candidates)};
        c.call(on, 64);
        c.call(on, 100);
        EXPECT_EQ(c.last(100, fastest), 100) << candidates << " candidates, the others take " << slow;
        EXPECT_EQ(c.learns.best(), fastest);
      }
    }
  }
}

/// Red if times count for another candidate than that of their call.
TEST(Learner, FindsTheFastestWhereCallsAreDecidedAhead) {
  for (std::uint32_t ahead = 1; ahead < learner::most_ahead; ++ahead) {
    for (unsigned fastest = 0; fastest < 3; ++fastest) {
      machine on{{1200, 1200, 1200}};
      on.call[fastest] = 1000;
      caller c{learner(3, {.ahead = ahead}), std::vector<unsigned>(ahead, 0)};
      c.call(on, 200);
      EXPECT_EQ(c.last(100, fastest), 100) << ahead;
      on.call = {1200, 1200, 1200};
      on.call[(fastest + 1) % 3] = 700;  // which is another state of the machine: what serves takes longer
      c.call(on, 4000);
      EXPECT_EQ(c.last(100, (fastest + 1) % 3), 100) << ahead;
    }
  }
}

/// Red if a median sees only one of the two kinds: the second candidate is faster in calls alone, the first one in all.
TEST(Learner, AddsUpWhatACallerTakesWhoRewritesBeforeEveryOtherCall) {
  for (bool const begins_with_rewritten : {false, true}) {
    caller c{learner(2)};
    for (int k = 0; k < 100; ++k)
      c.call((k % 2 == 0) == begins_with_rewritten ? machine{{1000, 700}, {1000, 2000}} : machine{{1000, 700}, {0, 0}},
             1);
    EXPECT_EQ(c.last(30, 0), 30);
  }
}

TEST(Learner, StaysWithTheFirstOfEquals) {
  caller c{learner(3)};
  c.call({{1000, 995, 990}}, 200);
  EXPECT_EQ(c.last(100, 0), 100);
}

TEST(Learner, CountsWhatACallLeavesToItsCaller) {
  machine on{{1000, 900}};
  on.own = {500, 800};  // lines that the second candidate leaves with others
  caller c{learner(2)};
  c.call(on, 64);
  EXPECT_EQ(c.learns.best(), 0u);
}

/// As arrays that others read where they are make for short calls, after which their owner's stores wait for every line.
TEST(Learner, CountsCyclesOfWhatHasFarSlowerCalls) {
  machine const reads{{1700, 1600, 1000}, {50, 50, 50}}, rewrites{{1700, 1600, 1000}, {1400, 1400, 3000}};
  caller c{learner(3)};
  c.call(rewrites, 64);
  EXPECT_EQ(c.learns.best(), 1u);
  caller changes{learner(3)};
  changes.call(reads, 100);
  EXPECT_EQ(changes.learns.best(), 2u);
  changes.call(rewrites, 64);
  EXPECT_EQ(changes.learns.best(), 1u);
}

/// Whose cycles say nothing of the storage.
TEST(Learner, LeavesFarSlowerCallsAtOnceWhereTheCallersWorkIsLong) {
  caller c{learner(2)};
  c.call({{1000, 30'000}, {1'000'000, 1'000'000}}, 64);
  EXPECT_LE(c.last(64, 1), 5);
  EXPECT_EQ(c.learns.best(), 0u);
}

/// As of a caller that works little: its cycles differ by less than its calls.
TEST(Learner, KeepsFarFasterCallsWhereCyclesGainLittle) {
  caller c{learner(2)};
  c.call({{1000, 3000}, {3000, 800}}, 64);
  EXPECT_EQ(c.learns.best(), 0u);
  caller gains{learner(2)};
  gains.call({{1000, 3000}, {3000, 400}}, 64);
  EXPECT_EQ(gains.learns.best(), 1u);
}

/// Cycles of a million with a noise of 5 % say nothing about a hundred.
TEST(Learner, CountsCallsAloneWhereTheCallersWorkIsLong) {
  machine on{{1000, 900}};
  on.own = {1'000'000, 1'100'000};
  caller c{learner(2)};
  c.call(on, 64);
  EXPECT_EQ(c.learns.best(), 1u);
}

TEST(Learner, FollowsAMachineThatMovesWithin64Calls) {
  machine const near{{1000, 700, 1500}}, apart{{1400, 7000, 1100}};
  caller c{learner(3)};
  c.call(near, 200);
  EXPECT_EQ(c.learns.best(), 1u);
  for (int moves = 0; moves < 20; ++moves) {
    c.call(apart, 64);
    EXPECT_EQ(c.learns.best(), 2u) << "move " << moves;
    c.call(apart, 1000);
    c.call(near, 64);
    EXPECT_EQ(c.learns.best(), 1u) << "move " << moves;
    c.call(near, 1000);
  }
}

/// As where the caller begins to rewrite an array: calls take as long as before, but its own stores do not.
TEST(Learner, FollowsCallersThatMoveWithin64Calls) {
  machine const reads{{1000, 900}, {500, 500}}, rewrites{{1000, 900}, {500, 1500}};
  caller c{learner(2)};
  c.call(reads, 200);
  EXPECT_EQ(c.learns.best(), 1u);
  c.call(rewrites, 64);
  EXPECT_EQ(c.learns.best(), 0u);
  c.call(rewrites, 2000);
  EXPECT_EQ(c.learns.best(), 0u);
}

/// As where every line that the caller stores into has to come from another cache: many times as long as a call.
TEST(Learner, FollowsCallersWhoseStoresBecomeVerySlow) {
  machine const reads{{1000, 900}, {500, 500}}, rewrites{{1000, 900}, {500, 9000}};
  caller c{learner(2)};
  c.call(reads, 200);
  EXPECT_EQ(c.learns.best(), 1u);
  c.call(rewrites, 64);
  EXPECT_EQ(c.learns.best(), 0u);
}

/// Also in the middle of an exploration, whose record then is of both.
TEST(Learner, FollowsCallersThatChangeAtAnyTime) {
  machine const reads{{1000, 1100, 900}, {500, 500, 500}}, rewrites{{1000, 900, 950}, {800, 700, 3000}};
  for (int before = 0; before < 200; ++before) {
    caller c{learner(3)};
    c.call(reads, before);
    c.call(rewrites, 150);
    EXPECT_EQ(c.learns.best(), 1u) << "after " << before << " calls";
  }
}

/// The callers' own work varies much; the calls do not.
TEST(Learner, IgnoresHowLongCallersWorkWhereThatIsLong) {
  machine const works{{1000, 1100}, {100'000, 100'000}}, works_more{{1000, 1100}, {300'000, 300'000}};
  caller c{learner(2)};
  c.call(works, 100);
  c.taken.clear();
  for (int k = 0; k < 10; ++k) {
    c.call(works_more, 20);
    c.call(works, 20);
  }
  EXPECT_EQ(std::count(c.taken.begin(), c.taken.end(), 1u), 0);
}

/// Tight stretches and long ones in turn: no storm of measurements.
TEST(Learner, IgnoresCallersThatWorkForLongNowAndThen) {
  machine const tight{{1000, 1100}, {1000, 1000}}, long_work{{1000, 1100}, {100'000, 100'000}};
  caller c{learner(2)};
  c.call(tight, 200);
  c.taken.clear();
  for (int k = 0; k < 20; ++k) {
    c.call(long_work, 100);
    c.call(tight, 100);
  }
  EXPECT_LE(std::count(c.taken.begin(), c.taken.end(), 1u), 120);
}

TEST(Learner, SpendsLittleOnOthers) {
  for (machine const& on : {machine{{1000, 1100}}, machine{{1000, 1100, 1200, 1300}}, machine{{1000, 30'000, 2000}}}) {
    caller c{learner(static_cast<unsigned>(on.call.size()))};
    c.call(on, 100);
    c.taken.clear();
    constexpr int calls = 100'000;
    c.call(on, calls);
    double others = 0, all = 0;
    for (unsigned const k : c.taken) {
      all += on.call[k];
      if (k != 0) others += on.call[k];
    }
    EXPECT_LE(others / all, 0.011);
    EXPECT_GT(c.rested, calls * 3 / 4) << "what is timed takes longer";
    EXPECT_GT(others, 0) << "what others take is never looked at again";
  }
}

/// A shape whose calls vary that much by themselves is not measured over and over.
TEST(Learner, LooksEverLessOftenAtWhatChangesNothing) {
  machine const slow{{3000, 9000}}, fast{{1000, 9000}};
  caller c{learner(2)};
  for (int k = 0; k < 500; ++k) {
    c.call(slow, 20);
    c.call(fast, 20);
  }
  EXPECT_EQ(c.learns.best(), 0u);
  EXPECT_LE(std::count(c.taken.begin(), c.taken.end(), 1u), 500);
  machine const equal_and_slow{{3000, 3000}, {1000, 1000}, 0.05}, equal_and_fast{{1000, 1000}, {1000, 1000}, 0.05};
  caller other{learner(2)};
  for (int k = 0; k < 500; ++k) {
    other.call(equal_and_slow, 20);
    other.call(equal_and_fast, 20);
  }
  std::ptrdiff_t changes = 0;
  for (std::size_t k = 1; k < other.taken.size(); ++k) changes += other.taken[k] != other.taken[k - 1];
  EXPECT_LE(changes, 200);
}

TEST(Learner, IgnoresWhatIsNotKnown) {
  caller c{learner(2)};
  for (int k = 0; k < 1000; ++k) c.learns.called({});
  EXPECT_EQ(c.learns.best(), 0u);
  c.learns.forget();
  c.call({{1000, 500}}, 64);
  EXPECT_EQ(c.learns.best(), 1u);
}

/// What ranks rely on: told the same, they take the same, whatever it is.
TEST(Learner, IsAFunctionOfWhatItIsTold) {
  std::mt19937_64 choices(test::seed());
  for (int k = 0; k < test::by_effort(20, 100, 1000); ++k) {
    unsigned const candidates = 1 + static_cast<unsigned>(choices() % learner::most_candidates);
    learner one(candidates), other(candidates);
    for (int i = 0; i < 2000; ++i) {
      ASSERT_EQ(one.next(), other.next());
      ASSERT_EQ(one.best(), other.best());
      ASSERT_LT(one.next(), candidates);
      auto const any = [&] { return static_cast<std::uint32_t>(choices() >> choices() % 64); };
      call_times const took{any(), any()};
      one.called(took);
      other.called(took);
    }
  }
}

TEST(Learner, FlipsForTests) {
  learner flips(3, learning_pace::flipping());
  for (unsigned k = 0; k < 10'000; ++k) {
    ASSERT_EQ(flips.next(), k % 3);
    flips.called({k % 7 * 1000, 0});
  }
}

}  // namespace
}  // namespace coset::choice
