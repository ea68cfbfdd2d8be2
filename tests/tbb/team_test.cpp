// SPDX-License-Identifier: Apache-2.0
// Collectives of ranks that are tasks of oneTBB: with any number of threads, amid other tasks, when something fails.
#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>

#include <latch>
#include <stdexcept>
#include <thread>

#include "coset/tbb.hpp"
#include "floating_point.hpp"
#include "support/tasks.hpp"

namespace coset::tbb_test {
namespace {

using namespace team_test;

/// No more threads than this for as long as it lives.
class at_most {
 public:
  explicit at_most(std::size_t threads) : limit_(::tbb::global_control::max_allowed_parallelism, threads) {}

 private:
  ::tbb::global_control limit_;
};

void expect_right(tbb::team& ranks, batch tasks) {
  ranks.run([&](member& me) { return tasks.start(me); });
  ASSERT_EQ(tasks.fault(), "");
}

void expect_works(tbb::team& ranks) {
  task const sum{.what = verb::allreduce, .counts = std::vector<std::size_t>(ranks.size(), 100)};
  expect_right(ranks, batch(sum, ranks.size()));
}

/// Random collectives on teams of 1 to 9 ranks, and of more than there are threads anywhere.
void expect_random_tasks_right(std::size_t teams) {
  SCOPED_TRACE("seed " + std::to_string(test::seed()));
  engine choices(test::seed());
  for (std::size_t t = 0; t < teams; ++t) {
    auto const p = static_cast<rank_t>(t % 25 == 24 ? 24 : 1 + below(choices, 9));
    tbb::team ranks(p);
    for (int run = 0; run < 10 && !::testing::Test::HasFailure(); ++run) expect_right(ranks, batch(choices, p));
  }
}

TEST(TbbTeam, IsRightWithAsManyThreadsAsThereAre) {
  expect_random_tasks_right(test::by_effort<std::size_t>(10, 50, 500));
}

/// Whichever thread takes a task, and whatever its own mode is.
TEST(TbbTeam, FoldsInTheFloatingPointModeOfItsMaker) {
  test::mode{FE_UPWARD, false, false}.set();
  tbb::team ranks(4);
  test::usual_mode.set();
  std::vector<double> const in{1.0, 0x1p-60, 0, 0};
  std::vector<double> out(4);
  ranks.run([&](member& me) {
    std::vector<request> all;
    all.push_back(start_allreduce(me, std::span(&in[me.rank()], 1), std::span(&out[me.rank()], 1)));
    return all;
  });
  EXPECT_EQ(out, std::vector<double>(4, 1 + 0x1p-52));
}

/// Red if anything waits: nobody else is there who could bring on what it waits for.
TEST(TbbTeam, IsRightWithOneThread) {
  at_most const one(1);
  expect_random_tasks_right(test::by_effort<std::size_t>(10, 50, 500));
}

TEST(TbbTeam, IsRightWithMoreThreadsThanProcessors) {
  at_most const many(8);
  ::tbb::task_arena(8).execute([] { expect_random_tasks_right(test::by_effort<std::size_t>(10, 50, 500)); });
}

/// As in the header.
TEST(TbbTeam, SumsArraysOfAnyNumberOfRanks) {
  for (rank_t const p : {1u, 2u, 7u, 100u}) {
    std::vector<std::vector<double>> arrays(p, std::vector<double>(1000, 1.0));
    tbb::team ranks(p);
    ranks.run([&](member& me) { return start_allreduce(me, arrays[me.rank()]); });
    EXPECT_EQ(arrays, std::vector(p, std::vector<double>(1000, p)));
  }
}

/// Red if a sweep leaves out ranks that are ready, or if one thread needs more sweeps than many.
TEST(TbbTeam, SweepsOnceForEachOfTheWaitsThatFollowOneAnother) {
  for (std::size_t const threads : {1u, 4u}) {
    at_most const so_many(threads);
    for (rank_t const p : {2u, 5u, 9u}) {
      tbb::team ranks(p);
      std::vector<std::vector<int>> in(p, std::vector<int>(5000, 1)), out(p, std::vector<int>(5000));
      auto const sweeps = [&](char const* algorithm) {
        auto const sum = make_plan<int>(ranks, 5000, {}, {.algorithm = algorithm, .storage = "staged"});
        ranks.run([&](member& me) { return sum.start(me, in[me.rank()], out[me.rank()]); });
        EXPECT_EQ(out, std::vector(p, std::vector<int>(5000, static_cast<int>(p)))) << algorithm;
        return ranks.sweeps();
      };
      EXPECT_LE(sweeps("direct"), 3u);
      EXPECT_LE(sweeps("direct(saved_steps=1)"), 2u);
      EXPECT_LE(sweeps("ring"), 2 * (p - 1) + 1);
      EXPECT_GE(sweeps("direct"), 2u);
    }
  }
}

/// Outer tasks that have begun and not ended on this thread.
thread_local int outer_tasks = 0;

/// Red without a region of its own for run(): a thread that waits in there begins another of these tasks.
TEST(TbbTeam, RunsInsideTasksWithoutTakingUpOthers) {
  at_most const four(4);
  engine choices(test::seed());
  std::vector<std::unique_ptr<tbb::team>> teams;
  std::vector<batch> tasks;
  for (int k = 0; k < 64; ++k) {
    teams.push_back(std::make_unique<tbb::team>(5));
    tasks.emplace_back(choices, 5);
  }
  std::atomic<int> amid_another = 0;
  ::tbb::task_arena(4).execute([&] {
    ::tbb::parallel_for(std::size_t{0}, teams.size(), [&](std::size_t k) {
      amid_another += outer_tasks++ != 0;
      teams[k]->run([&](member& me) { return tasks[k].start(me); });
      --outer_tasks;
    });
  });
  EXPECT_EQ(amid_another, 0);
  for (batch& each : tasks) EXPECT_EQ(each.fault(), "");
}

thread_local int operations = 0;

/// Adds with a loop of tasks, and tells whether another addition had begun on this thread.
auto add_in_tasks(std::atomic<int>& amid_another, bool throws = false) {
  return [&amid_another, throws](int a, int b) {
    amid_another += operations++ != 0;
    std::atomic<int> sum = 0;
    ::tbb::parallel_for(0, 8, [&](int i) { sum += i == 0 ? a : i == 1 ? b : 0; });
    --operations;
    if (throws) throw std::domain_error("told so");
    return sum.load();
  };
}

/// Red without a region of its own for every rank's step.
TEST(TbbTeam, LetsOperationsHaveTasksOfTheirOwn) {
  at_most const four(4);
  tbb::team ranks(8);
  std::atomic<int> amid_another = 0;
  ::tbb::task_arena(4).execute([&] {
    for (bool const throws : {false, true}) {
      std::vector<std::vector<int>> arrays(8, std::vector<int>(400, 1));
      auto const run = [&] {
        ranks.run([&](member& me) {
          return start_allreduce(me, arrays[me.rank()], add_in_tasks(amid_another, throws && me.rank() == 3));
        });
      };
      if (throws) {
        EXPECT_THROW(run(), std::domain_error);
      } else {
        run();
        EXPECT_EQ(arrays, std::vector(8, std::vector<int>(400, 8)));
      }
    }
  });
  EXPECT_EQ(amid_another, 0);
  expect_works(ranks);
}

/// Red if the caller's cancellation reaches the sweeps: they would begin nobody, for ever.
TEST(TbbTeam, CompletesWhatATaskBeginsThatIsCancelled) {
  for (std::size_t const threads : {1u, 4u}) {
    at_most const so_many(threads);
    tbb::team ranks(6);
    ::tbb::task_group_context cancelled;
    ::tbb::parallel_for(
        0, 1,
        [&](int) {
          cancelled.cancel_group_execution();
          expect_works(ranks);
        },
        cancelled);
    expect_works(ranks);
  }
}

struct TbbTeamFailure : ::testing::TestWithParam<rank_t> {
  rank_t const p = GetParam();
  tbb::team ranks{p};
  std::vector<std::vector<int>> arrays{p, std::vector<int>(3000, 1)};

  request sum(member& me) { return start_allreduce(me, arrays[me.rank()]); }

  /// All but one rank add up; that one does something else.
  outcome outcome_with(rank_t who, std::function<request(member&)> const& other) {
    auto thrown = outcome_of([&] { ranks.run([&](member& me) { return me.rank() == who ? other(me) : sum(me); }); });
    expect_works(ranks);
    return thrown;
  }
};

TEST_P(TbbTeamFailure, IsTheExceptionOfTheRankThatHadIt) {
  for (rank_t who = 0; who < p; ++who) {
    outcome const thrown = outcome_with(who, [](member&) -> request { throw std::domain_error("told so"); });
    EXPECT_EQ(thrown.type, type_name<std::domain_error>()) << thrown.message;
  }
}

TEST_P(TbbTeamFailure, OfRanksThatDisagreeIsAMismatch) {
  if (p == 1) return;
  for (rank_t who = 0; who < p; ++who) {
    outcome const thrown =
        outcome_with(who, [&](member& me) { return start_allreduce(me, std::span(arrays[me.rank()]).first(2999)); });
    EXPECT_EQ(thrown.type, type_name<mismatch_error>()) << thrown.message;
    EXPECT_EQ(outcome_with(who, [](member&) { return request(); }).type, type_name<mismatch_error>());
  }
}

/// Red if belongs_to() is not asked: the other team's rank would be advanced by whoever comes along.
TEST_P(TbbTeamFailure, ComesOfARequestThatIsNotTheRanks) {
  tbb::team others(2);
  std::vector<int> array(10);
  std::vector<request> foreign(1);
  EXPECT_THROW(others.run([&](member& me) {
    if (me.rank() == 0) {
      request begun = start_broadcast(me, array, 1);  // not complete without the other rank
      outcome const thrown = outcome_with(p - 1, [&](member&) { return std::move(begun); });
      EXPECT_EQ(thrown.type, type_name<argument_error>()) << thrown.message;
      EXPECT_NE(thrown.message.find("request"), std::string::npos) << thrown.message;
    }
    return start_broadcast(me, array, 1);
  }),
               coset::error);  // it was given up there
  expect_works(others);
}

TEST_P(TbbTeamFailure, ComesOfCallsThatWouldWait) {
  outcome const thrown = outcome_with(0, [&](member& me) {
    allreduce(me, arrays[me.rank()]);
    return request();
  });
  EXPECT_EQ(thrown.type, type_name<argument_error>()) << thrown.message;
}

TEST_P(TbbTeamFailure, ComesOfARunInsideARun) {
  outcome const thrown = outcome_with(0, [&](member& me) {
    ranks.run([&](member& inner) { return sum(inner); });
    return sum(me);
  });
  EXPECT_EQ(thrown.type, type_name<argument_error>()) << thrown.message;
}

INSTANTIATE_TEST_SUITE_P(Sizes, TbbTeamFailure, ::testing::Values(1, 2, 3, 8), size_name);

TEST(TbbTeam, RefusesTwoThreadsAtOnce) {
  tbb::team ranks(3);
  std::vector<int> sums(3, 1);
  auto const sum = [&](member& me) { return start_allreduce(me, std::span(&sums[me.rank()], 1)); };
  std::latch inside(1), refused(1);
  std::jthread first([&] {
    ranks.run([&](member& me) {
      if (me.rank() == 0) {
        inside.count_down();
        refused.wait();
      }
      return sum(me);
    });
  });
  inside.wait();
  EXPECT_THROW(ranks.run(sum), argument_error);
  refused.count_down();
  first.join();
  EXPECT_EQ(sums, std::vector<int>(3, 3));
}

TEST(TbbTeam, IsOfOneRankAtLeast) { EXPECT_THROW(tbb::team(0), argument_error); }

}  // namespace
}  // namespace coset::tbb_test
