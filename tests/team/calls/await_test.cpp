// SPDX-License-Identifier: Apache-2.0
// Functions, coroutines and receivers that go on when requests are complete.
#include <array>
#include <atomic>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "coset/async/sender.hpp"
#include "coset/async/task.hpp"
#include "support/teams.hpp"

namespace coset::team_test {
namespace {

TEST(Progress, FunctionsAreCalledOnceInTheOrderInWhichTheyCame) {
  team ranks(options_for(3));
  ranks.run([](member& me) {
    std::array<std::vector<int>, 5> arrays;
    std::vector<std::size_t> called;
    progress loop;
    for (std::size_t k = 0; k < arrays.size(); ++k) {
      arrays[k].assign(k % 2 == 0 ? 20'000 : 2, 1);  // short ones are complete before longer ones
      loop.then(start_allreduce(me, arrays[k]), [&, k] {
        EXPECT_EQ(arrays[k].back(), 3);
        called.push_back(k);
      });
      EXPECT_EQ(called.size(), 0u) << "nothing goes on outside the loop";
    }
    while (loop.poll()) continue;
    EXPECT_EQ(called, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
    loop.run();
    EXPECT_EQ(called.size(), 5u);
  });
}

TEST(Progress, AFunctionMayStartTheNextRequest) {
  team ranks(options_for(2));
  ranks.run([](member& me) {
    progress loop;
    int value = 1, rounds = 0;
    std::function<void()> const next = [&] {
      if (++rounds <= 20) loop.then(start_allreduce(me, together(value)), next);
    };
    next();
    loop.run();
    EXPECT_EQ(value, 1 << 20);
  });
}

TEST(Progress, TheErrorOfTheTeamLeavesTheLoop) {
  team ranks(options_for(2));
  expect_everybody_threw<mismatch_error>(outcomes(ranks, [](member& me) {
    std::vector<int> mine(me.rank() + 1);
    progress loop;
    loop.then(start_allreduce(me, mine), [] { ADD_FAILURE() << "it is not complete"; });
    loop.run();
  }));
  expect_works(ranks);
}

TEST(Progress, ALoopThatEndsGivesUpWhatWaits) {
  team ranks(options_for(2));
  auto const all = outcomes(ranks, [](member& me) {
    if (me.rank() == 0) {
      int mine = 1;
      progress loop;
      loop.then(start_allreduce(me, together(mine)), [] {});
    } else {
      barrier(me);
    }
  });
  EXPECT_NE(all[1].type, "");
  expect_works(ranks);
}

/// A rank of two teams whose loop waits for one, while the other rank needs it in the other team first.
void expect_no_circle(void (*until_done)(progress&)) {
  auto const first = team::adopt(2), second = team::adopt(2);
  std::atomic<bool> started = false;
  auto const serve = [&](rank_t rank) {
    auto of_first = first->join(rank), of_second = second->join(rank);
    std::vector<int> one(20'000, 1), two(20'000, 2);  // several steps
    if (rank == 0) {
      progress loop;
      loop.then(start_allreduce(*of_first, one), [] {});
      loop.then(start_allreduce(*of_second, two), [] {});
      started = true;
      until_done(loop);
    } else {
      while (!started) std::this_thread::yield();
      start_allreduce(*of_second, two).wait();
      start_allreduce(*of_first, one).wait();
    }
    EXPECT_EQ(one.back(), 2);
    EXPECT_EQ(two.back(), 4);
  };
  std::jthread const other(serve, 1);
  serve(0);
}

TEST(Progress, ServesMembersOfSeveralTeamsAtOnce) {
  expect_no_circle([](progress& loop) { loop.run(); });
  expect_no_circle([](progress& loop) {
    while (loop.poll()) std::this_thread::yield();
  });
}

TEST(Progress, RequestsOfTwoPartsWaitAsOneCallDoes) {
  team ranks(options_for(2));
  expect_everybody_threw<mismatch_error>(outcomes(ranks, [](member& me) {
    member first = me.split(0), second = me.split(0);
    if (me.rank() != 0) return barrier(me);
    int one = 1, two = 2;
    progress loop;
    loop.then(start_allreduce(first, together(one)), [] {});
    loop.then(start_allreduce(second, together(two)), [] {});
    loop.run();  // which sees that all ranks wait for one another
  }));
  expect_works(ranks);
}

/// As small a receiver as there can be.
struct receiver {
  std::optional<std::string>* told;
  void set_value() && noexcept { *told = "value"; }
  void set_error(std::exception_ptr thrown) && noexcept {
    *told = outcome_of([&] { std::rethrow_exception(thrown); }).type;
  }
};

TEST(Sender, StartsWhenItIsStartedAndCompletesInTheLoop) {
  team ranks(options_for(2));
  ranks.run([](member& me) {
    progress loop;
    std::vector<int> mine(100, 1);
    std::optional<std::string> told;
    bool started = false;
    auto const sender = sender_of(loop, [&] {
      started = true;
      return start_allreduce(me, mine);
    });
    auto operation = sender.connect(receiver{&told});
    EXPECT_FALSE(started);
    operation.start();
    EXPECT_TRUE(started && !told);
    loop.run();
    EXPECT_EQ(told, "value");
    EXPECT_EQ(mine[99], 2);
  });
}

TEST(Sender, ErrorsOfTheStartAndOfTheTeamAreSet) {
  team ranks(options_for(2));
  std::array<std::optional<std::string>, 2> of_start, of_team;
  auto const all = outcomes(ranks, [&](member& me) {
    progress loop;
    auto broken =
        sender_of(loop, []() -> request { throw std::out_of_range("no"); }).connect(receiver{&of_start[me.rank()]});
    broken.start();
    std::vector<int> mine(me.rank() + 1);
    auto mismatched = sender_of(loop, [&] { return start_allreduce(me, mine); }).connect(receiver{&of_team[me.rank()]});
    mismatched.start();
    loop.run();
  });
  for (rank_t r = 0; r < 2; ++r) {
    EXPECT_EQ(of_start[r], type_name<std::out_of_range>());
    EXPECT_EQ(of_team[r], type_name<mismatch_error>());
  }
  expect_works(ranks);
}

task doubled(member& me, int& value, int times) {
  for (int k = 0; k < times; ++k) co_await start_allreduce(me, together(value));
}

task doubled_in_parts(member& me, int& value, int times) {
  co_await doubled(me, value, 1);
  co_await doubled(me, value, times - 1);
}

/// Ranks see completions in different orders; requests have to match nevertheless.
TEST(Task, TasksSideBySideStartTheirRequestsInOneOrderOnAllRanks) {
  team ranks(options_for(2));
  for (int round = 0; round < test::by_effort(20, 100, 1000); ++round) {
    ranks.run([](member& me) {
      int a = 1, b = 1, c = 1;
      run_until_done(doubled(me, a, 3), doubled_in_parts(me, b, 7), doubled(me, c, 5));
      EXPECT_EQ(a, 8);
      EXPECT_EQ(b, 128);
      EXPECT_EQ(c, 32);
    });
  }
}

task throws_after(member& me, int& value) {
  co_await start_allreduce(me, together(value));
  throw std::length_error("enough");
}
task awaits(task other) { co_await std::move(other); }
task waits_for_ever(member& me, int& value) {
  for (;;) co_await start_allreduce(me, together(value));
}

TEST(Task, WhatOneThrowsLeavesAllOfThem) {
  team ranks(options_for(2));
  expect_everybody_threw<std::length_error>(outcomes(ranks, [](member& me) {
    int a = 1, b = 1;
    try {
      run_until_done(waits_for_ever(me, a), awaits(throws_after(me, b)));
    } catch (std::length_error const&) {
      throw;
    } catch (error const&) {  // the other rank was faster to give up what waits for ever
      throw std::length_error("the team has failed");
    }
  }));
  expect_works(ranks);
}

TEST(Task, AFailureOfTheTeamIsThrownWhereItIsAwaited) {
  team ranks(options_for(2));
  std::array<bool, 2> caught{};
  ranks.run([&](member& me) {
    std::vector<int> mine(me.rank() + 1);
    auto const body = [](member& self, std::vector<int>& array, bool& noticed) -> task {
      try {
        co_await start_allreduce(self, array);
      } catch (mismatch_error const&) {
        noticed = true;
      }
    };
    try {
      run_until_done(body(me, mine, caught[me.rank()]));
    } catch (error const&) {
    }
  });
  EXPECT_TRUE(caught[0] && caught[1]);
}

TEST(Task, StartedOnesMayBeAwaitedButNotStartedAgain) {
  team ranks(options_for(2));
  ranks.run([](member& me) {
    progress loop;
    int early = 1, late = 1;
    task ended = doubled(me, early, 1), waiting = doubled(me, late, 3);
    ended.start(loop);
    loop.run();
    EXPECT_TRUE(ended.done());
    EXPECT_THROW(ended.start(loop), argument_error);
    waiting.start(loop);
    EXPECT_THROW(waiting.start(loop), argument_error);
    task both = [](task first, task second) -> task {
      co_await std::move(first);
      co_await std::move(second);
    }(std::move(waiting), std::move(ended));
    both.start(loop);
    EXPECT_FALSE(both.done());
    loop.run();
    EXPECT_TRUE(both.done());
    EXPECT_EQ(early, 2);
    EXPECT_EQ(late, 8);
  });
}

TEST(Task, WhatNobodyInTheLoopResumesIsNotTakenForDone) {
  bool resumed = false;
  auto const body = [](bool& went_on) -> task {
    co_await std::suspend_always();
    went_on = true;
  };
  EXPECT_THROW(run_until_done(body(resumed)), argument_error);
  EXPECT_FALSE(resumed);
}

/// A coroutine type that knows nothing of coset.
struct detached {
  struct promise_type {
    detached get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { ADD_FAILURE() << "nothing is thrown"; }
  };
};

TEST(Completion, IsAwaitedByAnyCoroutine) {
  team ranks(options_for(2));
  ranks.run([](member& me) {
    progress loop;
    int value = 1;
    bool done = false;
    auto const body = [](progress& in, member& self, int& sum, bool& ended) -> detached {
      co_await completion(in, start_allreduce(self, together(sum)));
      ended = true;
    };
    body(loop, me, value, done);
    EXPECT_FALSE(done);
    loop.run();
    EXPECT_TRUE(done);
    EXPECT_EQ(value, 2);
  });
}

}  // namespace
}  // namespace coset::team_test
