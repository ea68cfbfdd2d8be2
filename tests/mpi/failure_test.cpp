// SPDX-License-Identifier: Apache-2.0
// One rank's misfortune on all ranks of all processes, and the runs after it.
#include <atomic>
#include <exception>
#include <regex>
#include <stdexcept>
#include <thread>

#include "mpi/processes.hpp"

namespace coset::mpi_test {
namespace {

/// Each process's outcomes must be so, with these regular expressions in the messages; otherwise what was.
template <class Error>
std::string unless_all_threw(std::vector<outcome> const& all, std::vector<std::string> const& words) {
  for (auto const& one : all) {
    if (one.type != type_name<Error>()) return "threw '" + one.type + "' '" + one.message + "'";
    for (auto const& word : words) {
      if (!std::regex_search(one.message, std::regex(word))) return "no '" + word + "' in '" + one.message + "'";
    }
  }
  return {};
}

class Failure : public ::testing::Test {
 protected:
  hybrid on{2};

  /// One after the other: the first rank, the last, and one between.
  std::vector<rank_t> odd_ones() const { return {0, on.all.size() - 1, on.all.size() / 2}; }

  /// Runs `body(me, whether it is the odd one)` and expects this error of every rank, then that the team works.
  template <class Error, class Body>
  void expect_everywhere(Body&& body, std::vector<std::string> const& words = {}) {
    for (rank_t const odd : odd_ones()) {
      std::vector<outcome> all(on.all.threads());
      auto const fault = on.faults([&](member& me) {
        all[me.rank() - on.all.first()] = outcome_of([&] { body(me, me.rank() == odd); });
        return std::string();
      });
      EXPECT_EQ(said_anywhere(fault), "");
      EXPECT_EQ(said_anywhere(unless_all_threw<Error>(all, words)), "") << "rank " << odd << " is the odd one";
      on.expect_works();
    }
  }
};

TEST_F(Failure, OtherCountsAreAMismatchEverywhere) {
  if (on.all.size() < 2) GTEST_SKIP();
  for (auto const& [one, other] : {std::pair{1000, 1001}, {0, 1}, {5, 100'000}, {100'000, 5}, {100'000, 100'500}}) {
    expect_everywhere<mismatch_error>(
        [a = one, b = other](member& me, bool odd) {
          std::vector<float> items(static_cast<std::size_t>(odd ? a : b));
          allreduce(me, items);
        },
        {"allreduce of " + std::to_string(one) + " ", "allreduce of " + std::to_string(other) + " "});
  }
}

TEST_F(Failure, OtherVerbsAreAMismatchEverywhere) {
  if (on.all.size() < 2) GTEST_SKIP();
  expect_everywhere<mismatch_error>(
      [](member& me, bool odd) {
        std::vector<double> items(10);
        odd ? barrier(me) : allreduce(me, items);
      },
      {"barrier", "allreduce"});
}

TEST_F(Failure, OtherRootsAreAMismatchEverywhere) {
  if (on.all.size() < 2) GTEST_SKIP();
  // Two roots wait for each other; those that only give may have left before anybody knows.
  std::vector<outcome> all(on.all.threads());
  auto const fault = on.faults([&](member& me) {
    all[me.rank() - on.all.first()] = outcome_of([&] {
      std::vector<double> items(100);
      reduce(me, items, items, me.rank() == 0 ? 0 : me.size() - 1);
      barrier(me);
    });
    return std::string();
  });
  EXPECT_EQ(said_anywhere(fault), "");
  EXPECT_EQ(said_anywhere(unless_all_threw<mismatch_error>(all, {"reduce"})), "");
  on.expect_works();
}

TEST_F(Failure, OtherOperationsAndTypesAreAMismatchEverywhere) {
  if (on.all.size() < 2) GTEST_SKIP();
  // Ranks of one process know each other's types by name, those of two the common ones.
  expect_everywhere<mismatch_error>(
      [](member& me, bool odd) {
        std::vector<double> items(2000);
        odd ? allreduce(me, items, minimum{}) : allreduce(me, items, maximum{});
      },
      {"minimum.*maximum|maximum.*minimum"});
  expect_everywhere<mismatch_error>(
      [](member& me, bool odd) {
        std::vector<double> doubles(10);
        std::vector<std::int64_t> integers(10);
        odd ? allreduce(me, doubles) : allreduce(me, integers);
      },
      {"double.*long|long.*double"});
  struct of_this_test {
    double operator()(double a, double b) const noexcept { return a + b; }
  };
  expect_everywhere<mismatch_error>(
      [](member& me, bool odd) {
        std::vector<double> items(10);
        odd ? allreduce(me, items, of_this_test{}) : allreduce(me, items);
      },
      {"coset::plus", "of_this_test|of 10 elements"});
}

TEST_F(Failure, ARankThatLeavesEarlyIsAMismatchForAllOthers) {
  if (on.all.size() < 2) GTEST_SKIP();
  expect_everywhere<mismatch_error>([](member& me, bool odd) {
    std::vector<double> items(10);
    if (odd) throw mismatch_error("of its own");  // caught around this body: the rank leaves run()
    allreduce(me, items);
  });
}

TEST_F(Failure, LengthsThatDifferOnOneRankAreToldToAll) {
  expect_everywhere<argument_error>(
      [](member& me, bool odd) {
        std::vector<double> in(10), out(odd ? 11 : 10);
        allreduce(me, in, out);
      },
      {"10", "11"});
}

struct of_its_own : std::runtime_error {
  using std::runtime_error::runtime_error;
};

TEST_F(Failure, WhatOneRankThrowsItsProcessRethrowsAndOthersAreAborted) {
  for (rank_t const odd : odd_ones()) {
    auto const thrown = outcome_of([&] {
      on.all.run([&](member& me) {
        std::vector<double> items(3000);
        for (int k = 0; k < 5; ++k) {
          if (me.rank() == odd && k == 3) throw of_its_own("rank " + std::to_string(odd) + " has had enough");
          allreduce(me, items);
        }
      });
    });
    bool const here = odd >= on.all.first() && odd < on.all.first() + on.all.threads();
    bool const right = thrown.type == (here ? type_name<of_its_own>() : type_name<aborted>());
    EXPECT_EQ(said_anywhere(right ? "" : "threw '" + thrown.type + "' '" + thrown.message + "'"), "");
    on.expect_works();
  }
}

/// Its words are asked for while the team fails by it, and again when it has left the team over processes: then the
/// other threads of this process leave first.
struct of_the_last_to_leave : std::exception {
  of_the_last_to_leave(std::atomic<rank_t> const& left, rank_t others) : left_(left), others_(others) {}
  char const* what() const noexcept override {
    if (asked_++ == 1) {
      while (left_ != others_) std::this_thread::yield();
    }
    return "the last to leave";
  }

 private:
  std::atomic<rank_t> const& left_;
  rank_t const others_;
  mutable int asked_ = 0;
};

TEST_F(Failure, WhatOneRankThrowsIsRethrownThoughOtherThreadsLeaveBeforeIt) {
  for (int repetition = 0; repetition < 5; ++repetition) {
    for (rank_t const odd : odd_ones()) {
      std::atomic<rank_t> left = 0;
      auto const thrown = outcome_of([&] {
        on.all.run([&](member& me) {
          struct leaving {
            std::atomic<rank_t>& left;
            ~leaving() { ++left; }
          };
          if (me.rank() == odd) throw of_the_last_to_leave(left, on.all.threads() - 1);
          leaving const at_end{left};
          barrier(me);
        });
      });
      bool const here = odd >= on.all.first() && odd < on.all.first() + on.all.threads();
      bool const right = thrown.type == (here ? type_name<of_the_last_to_leave>() : type_name<aborted>());
      EXPECT_EQ(said_anywhere(right ? "" : "threw '" + thrown.type + "' '" + thrown.message + "'"), "");
    }
  }
  on.expect_works();
}

TEST_F(Failure, RunsInsideRunsAreRefused) {
  auto const fault = on.faults([&](member&) -> std::string {
    auto const thrown = outcome_of([&] { on.all.run([](member&) {}); });
    return thrown.type == type_name<argument_error>() ? "" : "not refused";
  });
  EXPECT_EQ(said_anywhere(fault), "");
  on.expect_works();
}

TEST(Teams, MayEndRightAfterARunThatLeftLongMessagesUnderWay) {
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    auto const thrown = outcome_of([&] {
      hybrid on(seed, {.staging_bytes = 0});  // messages even within this host
      on.all.run([](member& me) {
        std::vector<std::byte> much(16u << 20);
        if (me.rank() == me.size() - 1) throw of_its_own("the last rank does not want that");
        broadcast(me, much, 0);
      });
    });
    EXPECT_EQ(said_anywhere(thrown.type.empty() ? "nothing was thrown" : ""), "");
    hybrid(seed).expect_works();
  }
}

TEST(Deadline, IsNotWaitedForByThoseThatDestroyTheirTeamSooner) {
  constexpr std::chrono::milliseconds deadline(100);
  {
    hybrid on(1, {.deadline = deadline});
    on.expect_works();
    // The last process still has to compute.
    auto const begin = std::chrono::steady_clock::now();
    while (process() == processes() - 1 && std::chrono::steady_clock::now() - begin < 3 * deadline) {
    }
  }
  EXPECT_EQ(said_anywhere(""), "");
  hybrid(1).expect_works();
}

TEST(Deadline, ThatNobodyMissesChangesNothing) {
  hybrid on(1, {.deadline = std::chrono::seconds(60)});
  for (int k = 0; k < 3; ++k) on.expect_works();
}

TEST(Teams, OfOneCommunicatorDoNotMeet) {
  hybrid first(0), second(1);
  for (int k = 0; k < 3; ++k) {
    first.expect_works();
    second.expect_works();
  }
}

TEST(Teams, OfPartOfTheProcessesServe) {
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, process() % 2, -process(), &half);
  std::string fault;
  {
    team threads({.ranks = threads_of(process(), 0), .place = placement::unbound});
    mpi::team all(half, threads);
    auto const thrown = outcome_of([&] {
      all.run([&](member& me) {
        if (allreduce(me, 1u) != all.size()) throw error("a sum is wrong");
      });
    });
    fault = thrown.message;
  }
  MPI_Comm_free(&half);
  EXPECT_EQ(said_anywhere(fault), "");
}

}  // namespace
}  // namespace coset::mpi_test
