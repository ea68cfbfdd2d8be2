// SPDX-License-Identifier: Apache-2.0
// Teams over processes of threads that join and leave: std::threads, and OpenMP's as far as tests are concerned.
#include <atomic>
#include <functional>
#include <memory>
#include <numeric>
#include <thread>

#include "mpi/lifetimes/adopted.hpp"

namespace coset::mpi_test {
namespace {

TEST(Adopted, ThreadsAreRanksInTheOrderOfProcesses) {
  adopted const on(1);
  on.expect_no_faults([&](member& me) -> std::string {
    std::vector<rank_t> all(me.size());
    allgather(me, std::array{me.rank()}, all);
    std::vector<rank_t> expected(me.size());
    std::iota(expected.begin(), expected.end(), 0u);
    return all == expected && me.size() == on.all->size() ? "" : "ranks are numbered in another way";
  });
}

/// Neither joining nor leaving waits for anybody: one process is in its tenth region while another is in its first.
TEST(Adopted, ThreadsComeAndGo) {
  for (std::uint64_t seed : {2u, 3u}) {
    adopted const on(seed);
    for (int round = 0; round < test::by_effort(20, 100, 1000); ++round) {
      std::string const fault = on.faults(adopted::sums);
      ASSERT_EQ(fault, "");
    }
    on.expect_works();
  }
}

/// The thread that is a rank need not be the one that was.
TEST(Adopted, AnyThreadMayBeAnyRank) {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level < MPI_THREAD_MULTIPLE) GTEST_SKIP() << "rank 0 has to be the thread that initialised MPI";
  adopted const on(4);
  for (rank_t turn = 0; turn < 5; ++turn) {
    std::atomic<int> wrong = 0;
    on.threads.run([&](rank_t t) {
      auto me = on.all->join((t + turn) % on.threads.size);
      wrong += !adopted::sums(*me).empty();
    });
    EXPECT_EQ(said_anywhere(wrong == 0 ? "" : "a sum is wrong"), "");
  }
}

TEST(Adopted, AllVerbsWork) {
  adopted const on(5);
  on.expect_no_faults([](member& me) -> std::string {
    std::vector<double> const in(2000, 1.5);
    std::vector<double> out(2000);
    rank_t const root = me.size() / 2;
    reduce(me, in, out, root);
    if (me.rank() == root && out != std::vector<double>(2000, 1.5 * me.size())) return "reduce is wrong";
    if (me.rank() == root) out.assign(2000, 7);
    broadcast(me, out, root);
    if (out != std::vector<double>(2000, 7)) return "broadcast is wrong";
    scan(me, in, out);
    if (out != std::vector<double>(2000, 1.5 * (me.rank() + 1))) return "scan is wrong";
    auto request = start_allreduce(me, std::span<double const>(in), std::span<double>(out));
    request.wait();
    barrier(me);
    return out == std::vector<double>(2000, 1.5 * me.size()) ? "" : "a started sum is wrong";
  });
}

/// A thread that leaves by an exception fails the team for all, until it is reset.
TEST(Adopted, FailuresReachAllThreadsUntilTheTeamIsReset) {
  adopted const on(6);
  for (int turn = 0; turn < 3; ++turn) {
    std::vector<std::string> type(on.threads.size);
    on.threads.run([&](rank_t t) {
      type[t] = outcome_of([&] {
                  auto me = on.all->join(t);
                  barrier(*me);
                  if (me->rank() == me->size() - 1) throw std::range_error("out");
                  barrier(*me);
                }).type;
    });
    std::string fault;
    for (rank_t t = 0; t < on.threads.size; ++t) {
      bool const threw = on.all->first() + t == on.all->size() - 1;
      if (type[t] != (threw ? type_name<std::range_error>() : type_name<aborted>())) fault = "got " + type[t];
    }
    ASSERT_EQ(said_anywhere(fault), "");
    EXPECT_THROW((void)on.all->join(0), aborted);
    on.all->reset();
    on.expect_works();
  }
}

TEST(Adopted, MismatchesReachAllThreads) {
  adopted const on(7);
  if (on.all->processes() == 1) GTEST_SKIP() << "as in a team of threads";
  std::vector<std::string> type(on.threads.size);
  on.threads.run([&](rank_t t) {
    type[t] = outcome_of([&] {
                auto me = on.all->join(t);
                std::vector<int> sums(me->rank() == 0 ? 100'000 : 50'000);
                allreduce(*me, sums);
                barrier(*me);
              }).type;
  });
  std::string fault;
  for (auto const& each : type) {
    if (each != type_name<mismatch_error>()) fault = "got " + each;
  }
  ASSERT_EQ(said_anywhere(fault), "");
  on.all->reset();
  on.expect_works();
}

/// Whatever is still under way then: messages that are long enough to need both sides.
TEST(Adopted, TeamsThatHaveFailedAreDestroyedWithoutReset) {
  for (std::uint64_t seed = 20; seed < 20 + test::by_effort<std::uint64_t>(3, 6, 50); ++seed) {
    adopted on(seed);
    std::vector<std::string> type(on.threads.size);
    on.threads.run([&](rank_t t) {
      type[t] = outcome_of([&] {
                  auto me = on.all->join(t);
                  std::vector<float> sums(300'000, 1);
                  allreduce(*me, sums);
                  if (me->rank() == seed % me->size()) throw std::range_error("out");
                  for (int k = 0; k < 3; ++k) allreduce(*me, sums);
                }).type;
    });
    std::string fault;
    for (auto const& each : type) {
      if (each.empty()) fault = "nothing was thrown";
    }
    ASSERT_EQ(said_anywhere(fault), "");
  }
}

/// Its threads hear of it, and so do the other processes, which do not wait.
TEST(Adopted, TeamsDestroyedWhileThreadsAreInside) {
  adopted on(30);
  on.expect_works();
  std::string type = type_name<mpi::error>();
  if (process() == 0) {
    auto me = on.all->join(0);
    on.all.reset();
    type = outcome_of([&] { barrier(*me); }).type;
  } else {
    on.all.reset();
  }
  EXPECT_EQ(said_anywhere(type == type_name<mpi::error>() ? "" : "threw '" + type + "'"), "");
}

/// A process that destroys its team has left: who waits for its ranks hears of it.
TEST(Adopted, WhoDestroysTheTeamEndsItForThoseThatWait) {
  adopted on(8);
  if (on.all->processes() == 1) GTEST_SKIP() << "nobody else waits";
  on.expect_works();
  std::string fault;
  if (process() == 0) {
    on.all.reset();
  } else {
    std::vector<std::string> type(on.threads.size);
    on.threads.run([&](rank_t t) {
      type[t] = outcome_of([&] {
                  auto me = on.all->join(t);
                  barrier(*me);
                }).type;
    });
    for (auto const& each : type) {
      if (each != type_name<mismatch_error>() && each != type_name<mpi::error>()) fault = "got '" + each + "'";
    }
    on.all.reset();
  }
  EXPECT_EQ(said_anywhere(fault), "");
}

TEST(Adopted, WrongCallsAreRefused) {
  adopted const on(9);
  EXPECT_THROW((void)on.all->join(on.threads.size), argument_error);
  EXPECT_THROW((void)on.here->join(0), argument_error) << "lent threads serve no other team";
  EXPECT_THROW(on.all->run([](member&) {}), argument_error);
  {
    auto me = on.all->join(0);
    EXPECT_THROW((void)on.all->join(0), argument_error);
    EXPECT_THROW(on.all->reset(), argument_error);
  }
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level == MPI_THREAD_FUNNELED) {
    std::thread([&] { EXPECT_THROW((void)on.all->join(0), argument_error); }).join();
  }
  hybrid owning(9);
  EXPECT_THROW((void)owning.all.join(0), argument_error);
  EXPECT_THROW(owning.all.reset(), argument_error);
  on.expect_works();
}

TEST(Adopted, ThreadsAreLentOnceAndGivenBack) {
  auto const here = team::adopt(1);
  {
    mpi::team const first(MPI_COMM_WORLD, *here);
    EXPECT_THROW(mpi::team(MPI_COMM_WORLD, *here), argument_error);
  }
  {
    auto const me = here->join(0);
    EXPECT_THROW(mpi::team(MPI_COMM_WORLD, *here), argument_error);
  }
  mpi::team again(MPI_COMM_WORLD, *here);
  auto me = again.join(0);
  EXPECT_EQ(said_anywhere(adopted::sums(*me)), "");
}

TEST(Adopted, ProcessesAgreeOnTheKindOfThreads) {
  if (processes() == 1) GTEST_SKIP() << "nobody to disagree with";
  auto const threads =
      process() == 0 ? team::adopt(1) : std::make_unique<team>(team_options{.ranks = 1, .place = placement::unbound});
  EXPECT_THROW(mpi::team(MPI_COMM_WORLD, *threads), mpi::error);
}

/// Two teams of the same threads, in any order.
TEST(Adopted, TwoTeamsOfTheSameThreads) {
  adopted const one(10), other(10);
  std::atomic<int> wrong = 0;
  one.threads.run([&](rank_t t) {
    for (int k = 0; k < 20; ++k) {
      auto first = one.all->join(t);
      auto second = other.all->join(t);
      wrong += !adopted::sums(*first).empty();
      wrong += !adopted::sums(*second).empty();
    }
  });
  EXPECT_EQ(said_anywhere(wrong == 0 ? "" : "a sum is wrong"), "");
}

}  // namespace
}  // namespace coset::mpi_test
