// SPDX-License-Identifier: Apache-2.0
// Teams that have ended wait for the next one alike: what makes them stand for it, what they keep, and what ends them.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cfenv>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "children.hpp"
#include "coset/coset.h"
#include "cross/emulated.hpp"
#include "numa/binding.hpp"
#include "numa/mask.hpp"
#include "support/teams.hpp"
#include "threads_here.hpp"
#include "variable.hpp"

namespace coset::team_test {
namespace {

using test::ending_of;
using test::threads_become;
using test::threads_of_this_process;
using test::variable;

/// What rank 1 of a team of two finds.
template <class Found>
auto in_rank_1(team& ranks, Found found) {
  decltype(found()) made{};
  ranks.run([&](member& me) {
    if (me.rank() == 1) made = found();
  });
  return made;
}

pid_t thread_of(team& ranks) { return in_rank_1(ranks, gettid); }

/// That of a team that is made, used and destroyed.
pid_t thread_of_one(team_options const& options = {.ranks = 2, .place = placement::unbound}) {
  team ranks(options);
  expect_works(ranks);
  return thread_of(ranks);
}

class IdleTeams : public ::testing::Test {
 protected:
  IdleTeams() {
    end_idle_teams();
    std::thread([] {}).join();  // sanitizers start one of their own with the first
  }
  ~IdleTeams() override { end_idle_teams(); }

  variable const for_long_{"COSET_IDLE", "1000"};
};

TEST_F(IdleTeams, StandForTheNextOne) {
  pid_t const thread = thread_of_one();
  EXPECT_EQ(thread_of_one(), thread);
  team used({.ranks = 2, .place = placement::unbound});
  EXPECT_EQ(thread_of(used), thread);
  EXPECT_NE(thread_of_one(), thread);
}

TEST_F(IdleTeams, AreToldOf) {
  variable const log("COSET_LOG", "mpi,team");
  ::testing::internal::CaptureStderr();
  for (int k = 0; k < 2; ++k) thread_of_one();
  std::istringstream told(::testing::internal::GetCapturedStderr());
  std::string first, second, third;
  std::getline(std::getline(std::getline(told, first), second), third);
  EXPECT_THAT(first, ::testing::MatchesRegex("coset: a team of 2 ranks: made in [0-9]+ µs, [0-9]+ of them .*"));
  EXPECT_THAT(second, ::testing::MatchesRegex("coset: a team of 2 ranks: an idle one, in [0-9]+ µs"));
  EXPECT_EQ(third, "");
}

TEST_F(IdleTeams, StandForNoOtherOne) {
  std::vector<team_options> const all{{.ranks = 2, .place = placement::unbound},
                                      {.ranks = 3, .place = placement::unbound},
                                      {.ranks = 2, .place = placement::compact},
                                      {.ranks = 2, .place = placement::unbound, .wait = waiting::block},
                                      {.ranks = 2, .place = placement::scatter}};
  std::vector<pid_t> threads;
  for (auto const& options : all) {
    pid_t const thread = thread_of_one(options);
    EXPECT_EQ(std::ranges::count(threads, thread), 0);
    threads.push_back(thread);
  }
  for (std::size_t k = 0; k < all.size(); ++k) EXPECT_EQ(thread_of_one(all[k]), threads[k]);
}

/// Each in a process of its own, as not everything can be undone.
void expect_another_after(
    std::function<void()> const& change, std::function<void()> const& begin = [] {}) {
  EXPECT_EQ(ending_of([&] {
              begin();
              pid_t const before = thread_of_one();
              bool const stood = thread_of_one() == before;
              change();
              bool const stands = thread_of_one() == before;
              _exit(stood && !stands && !::testing::Test::HasFailure() ? 0 : 1);
            }),
            "status 0");
}

TEST_F(IdleTeams, StandForNoneWhoseMakerHasChanged) {
  if (!test::children_start_threads()) GTEST_SKIP() << "ThreadSanitizer knows no thread of a child";
  expect_another_after([] { setenv("COSET_ADAPT", "off", 1); });
  expect_another_after([] { setenv("COSET_ALLREDUCE", "direct/staged", 1); });
  expect_another_after([] { std::fesetround(FE_UPWARD); });
  expect_another_after([] { setpriority(PRIO_PROCESS, 0, 3); });
  expect_another_after([] { prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); });
  expect_another_after([] {
    pthread_attr_t larger;
    pthread_attr_init(&larger);
    pthread_attr_setstacksize(&larger, std::size_t{32} << 20);
    pthread_setattr_default_np(&larger);
  });
  if (numa::mask const all = numa::mask::of_thread(0); all.count() > 1)
    expect_another_after([] { numa::mask::single(static_cast<unsigned>(sched_getcpu())).apply(); });
}

/// One more that permits everything.
void add_filter() {
  sock_filter permits = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  sock_fprog const program{1, &permits};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/// Under the first one both the mode and no_new_privs are as they stay.
TEST_F(IdleTeams, StandForNoneWhoseMakerHasOneMoreFilter) {
  if (!test::kernel_takes_filters()) GTEST_SKIP() << "no filter of system calls";
  if (!test::children_start_threads()) GTEST_SKIP() << "ThreadSanitizer knows no thread of a child";
  expect_another_after(add_filter, add_filter);
}

/// What a plan names may be gone, and something else may lie in its place.
TEST_F(IdleTeams, AreNoneOnceAnObjectIsUnloaded) {
  pid_t const thread = thread_of_one();
  void* const object = dlopen(COSET_SOME_OBJECT, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(object, nullptr) << dlerror();
  EXPECT_EQ(thread_of_one(), thread);
  dlclose(object);
  if (test::is_sanitized) GTEST_SKIP() << "sanitizers keep objects loaded";
  EXPECT_NE(thread_of_one(), thread);
}

TEST_F(IdleTeams, AreKeptWithMorePlansThanRanksRemember) {
  pid_t const thread = thread_of_one();
  {
    team ranks({.ranks = 2, .place = placement::unbound});
    ranks.run([](member& me) {
      std::vector<float> values(700);
      for (std::size_t n = 1; n <= values.size(); ++n) allreduce(me, std::span(values).first(n));
    });
  }
  EXPECT_EQ(thread_of_one(), thread);
}

TEST_F(IdleTeams, AreNoneAfterAFailure) {
  pid_t thread = 0;
  {
    team ranks({.ranks = 2, .place = placement::unbound});
    thread = thread_of(ranks);
    EXPECT_THROW(ranks.run([](member&) { throw 1; }), int);
  }
  EXPECT_NE(thread_of_one(), thread);
}

/// Which nobody could undo who is not root.
TEST_F(IdleTeams, AreNoneAfterABodyThatHasSlowedItsThread) {
  pid_t thread = 0;
  {
    team ranks({.ranks = 2, .place = placement::unbound});
    thread = in_rank_1(ranks, [] {
      setpriority(PRIO_PROCESS, 0, 1);
      return gettid();
    });
  }
  EXPECT_NE(thread_of_one(), thread);
}

TEST_F(IdleTeams, AreNoneWherePlansAreFiles) {
  variable const of_file("COSET_ALLREDUCE", "plan(file=/no/such/plan):1m-");
  EXPECT_NE(thread_of_one(), thread_of_one());
}

/// Its threads, which are idle, too, would take the signal instead, and end the process.
TEST_F(IdleTeams, TakeNoSignals) {
  thread_of_one();
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &one, nullptr);
  kill(getpid(), SIGUSR1);
  int taken = 0;
  sigwait(&one, &taken);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  EXPECT_EQ(taken, SIGUSR1);
}

/// Two ranks that could use two processors share one, if this thread alone is confined.
TEST_F(IdleTeams, AreNotCountedAmongThisProcesssThreads) {
  if (topology::machine().cores() < 2) GTEST_SKIP() << "one core";
  numa::mask const all = numa::mask::of_thread(0), one = numa::mask::single(static_cast<unsigned>(sched_getcpu()));
  one.apply();
  unsigned const without = numa::usable_processors();
  all.apply();
  thread_of_one({.ranks = 2});
  one.apply();
  team const crowd({.ranks = 2, .place = placement::unbound});
  unsigned const found = numa::usable_processors();
  all.apply();
  EXPECT_EQ(found, without);
}

TEST_F(IdleTeams, TellNothingOfEarlierLives) {
  thread_of_one();
  team const next({.ranks = 2, .place = placement::unbound});
  std::ostringstream told;
  dump(next, told);
  EXPECT_EQ(told.str().find("allreduce"), std::string::npos) << told.str();
}

TEST_F(IdleTeams, AreNoneWhileSomebodyHasAPart) {
  std::optional<member> part;
  pid_t thread = 0;
  {
    team ranks({.ranks = 2, .place = placement::unbound});
    thread = thread_of(ranks);
    ranks.run([&](member& me) {
      auto own = me.split(0);
      if (me.rank() == 0) part.emplace(std::move(own));
    });
  }
  EXPECT_NE(thread_of_one(), thread);
}

TEST_F(IdleTeams, HaveThreadsAsTheMakerWouldStart) {
  sigset_t one, none;
  sigemptyset(&none);
  sigemptyset(&one);
  sigaddset(&one, SIGUSR2);
  {
    team ranks({.ranks = 2, .place = placement::unbound});
    ranks.run([&](member& me) {
      if (me.rank() != 1) return;
      pthread_sigmask(SIG_BLOCK, &one, nullptr);
      std::fesetround(FE_UPWARD);
      numa::mask::single(static_cast<unsigned>(sched_getcpu())).apply();
    });
  }
  auto const blocked = [] {
    sigset_t now;
    pthread_sigmask(SIG_SETMASK, nullptr, &now);
    return sigismember(&now, SIGUSR2);
  };
  std::optional<team> ranks(std::in_place, team_options{.ranks = 2, .place = placement::unbound});
  EXPECT_TRUE(in_rank_1(*ranks, [] { return numa::mask::of_thread(0); }) == numa::mask::of_thread(0));
  EXPECT_EQ(in_rank_1(*ranks, blocked), 0);
  EXPECT_EQ(in_rank_1(*ranks, std::fegetround), FE_TONEAREST);
  ranks.reset();
  pthread_sigmask(SIG_BLOCK, &one, nullptr);
  ranks.emplace(team_options{.ranks = 2, .place = placement::unbound});
  EXPECT_EQ(in_rank_1(*ranks, blocked), 1);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
}

TEST_F(IdleTeams, ArePinnedAnew) {
  if (topology::machine().cores() < 2) GTEST_SKIP() << "one core";
  auto const where = [] { return numa::mask::of_thread(0); };
  numa::mask before;
  {
    team ranks({.ranks = 2});
    before = in_rank_1(ranks, where);
    ranks.run([](member& me) {
      if (me.rank() == 1) numa::mask::of_thread(getpid()).apply();
    });
  }
  team ranks({.ranks = 2});
  EXPECT_TRUE(in_rank_1(ranks, where) == before);
}

TEST_F(IdleTeams, LeaveOldRequestsTheirEnd) {
  std::vector<int> items(10, 1);
  request old;
  pid_t thread = 0;
  {
    team ranks({.ranks = 2, .place = placement::unbound});
    thread = thread_of(ranks);
    ranks.run([&](member& me) {
      std::vector<int> own(10, 1);
      auto started = start_allreduce(me, me.rank() == 0 ? items : own);
      started.wait();
      if (me.rank() == 0) old = std::move(started);
      barrier(me);
    });
  }
  team next({.ranks = 2, .place = placement::unbound});
  ASSERT_EQ(thread_of(next), thread);
  next.run([&](member& me) { EXPECT_FALSE(old.belongs_to(me)); });
}

TEST_F(IdleTeams, EndWhenAsked) {
  auto const before = threads_of_this_process();
  thread_of_one();
  EXPECT_GT(threads_of_this_process(), before);
  end_idle_teams();
  EXPECT_TRUE(threads_become(before));
  thread_of_one();
  coset_end_idle_teams();
  EXPECT_TRUE(threads_become(before));
}

TEST_F(IdleTeams, EndByThemselves) {
  auto const before = threads_of_this_process();
  variable const soon("COSET_IDLE", "0.01");
  thread_of_one({.ranks = 3, .place = placement::unbound});
  EXPECT_TRUE(threads_become(before));
  thread_of_one({.ranks = 3, .place = placement::unbound});  // joins those that have ended the last one
  EXPECT_TRUE(threads_become(before));
}

TEST_F(IdleTeams, AreNoneIfNobodyWantsThem) {
  auto const before = threads_of_this_process();
  variable const none("COSET_IDLE", "0");
  thread_of_one();
  EXPECT_TRUE(threads_become(before));
}

TEST_F(IdleTeams, AreFew) {
  auto const before = threads_of_this_process();
  std::vector<std::unique_ptr<team>> many;
  for (int k = 0; k < 20; ++k)
    many.push_back(std::make_unique<team>(team_options{.ranks = 2, .place = placement::unbound}));
  many.clear();
  EXPECT_TRUE(threads_become(before + 8)) << threads_of_this_process();
}

TEST_F(IdleTeams, KeepNoLargeMemory) {
  auto const before = threads_of_this_process();
  {
    team ranks({.ranks = 2, .place = placement::unbound});
    ranks.reserve(std::size_t{64} << 20);
  }
  EXPECT_TRUE(threads_become(before));
}

TEST_F(IdleTeams, OfAParentAreNoneOfItsChild) {
  if (!test::children_start_threads()) GTEST_SKIP() << "ThreadSanitizer knows no thread of a child";
  pid_t const thread = thread_of_one();
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(ending_of([] {
                thread_of_one();
                pid_t const own = thread_of_one();
                bool const stands = thread_of_one() == own;
                end_idle_teams();
                std::exit(stands && !::testing::Test::HasFailure() ? 0 : 1);
              }),
              "status 0");
  }
  EXPECT_EQ(thread_of_one(), thread);
}

/// All their threads find at once that it is time.
TEST_F(IdleTeams, OfManyRanksEndByThemselves) {
  auto const before = threads_of_this_process();
  variable const soon("COSET_IDLE", "0.0001");
  for (int again = 0; again < test::by_effort(20, 60, 400); ++again)
    for (rank_t const ranks : {8u, 17u}) team({.ranks = ranks, .place = placement::unbound}).run([](member&) {});
  EXPECT_TRUE(threads_become(before));
}

/// What a thread destroys last uses coset: teams end others, and are ended, by threads that end.
TEST_F(IdleTeams, AreUsedByWhatThreadsDestroy) {
  struct holder {
    ~holder() {
      if (!used) return;
      thread_of_one({.ranks = 3, .place = placement::unbound});
      end_idle_teams();
    }
    bool used = false;
  };
  auto const before = threads_of_this_process();
  for (char const* const time : {"0.001", "1000"}) {
    variable const idle("COSET_IDLE", time);
    {
      team ranks({.ranks = 4, .place = placement::unbound});
      ranks.run([](member&) {
        static thread_local holder mine;
        mine.used = true;
      });
    }
    end_idle_teams();
    EXPECT_TRUE(threads_become(before));
  }
}

/// Threads that make, use and destroy teams, while teams end by themselves and others end all.
TEST_F(IdleTeams, AreTakenByAnyThread) {
  variable const soon("COSET_IDLE", "0.001");
  std::atomic<bool> stop = false;
  std::vector<std::thread> makers;
  for (int k = 0; k < 3; ++k) {
    makers.emplace_back([k] {
      for (int again = 0; again < test::by_effort(20, 60, 400); ++again)
        thread_of_one({.ranks = 1 + static_cast<rank_t>(again + k) % 3, .place = placement::unbound});
    });
  }
  std::thread ender([&] {
    while (!stop) end_idle_teams(), std::this_thread::yield();
  });
  for (std::thread& each : makers) each.join();
  stop = true;
  ender.join();
}

}  // namespace
}  // namespace coset::team_test
