// SPDX-License-Identifier: Apache-2.0
// What outlives what: views, requests and split teams after failures, runs, and teams; threads and processes that end.
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <optional>

#include "children.hpp"
#include "cross/emulated.hpp"
#include "planning/choice/choose.hpp"
#include "runtime/requests.hpp"
#include "support/teams.hpp"
#include "team/team_state.hpp"

namespace coset::team_test {
namespace {

class Lifetimes : public ::testing::TestWithParam<rank_t> {
 protected:
  team ranks{options_for(GetParam())};
  rank_t const last = GetParam() - 1;

  /// Every rank's view of a sum of `count` times `value`.
  std::vector<double> views(std::size_t count, double value) {
    std::vector<double> in(count, value), got(ranks.size());
    ranks.run([&](member& me) {
      auto const view = allreduce_view(me, in);
      got[me.rank()] = view[count - 1];
      barrier(me);
    });
    return got;
  }
  std::vector<double> all_of(double value) const { return std::vector<double>(ranks.size(), value * ranks.size()); }
};

TEST_P(Lifetimes, ViewsAreTheSameMemoryForAllAfterAFailure) {
  // Some ranks have made room for a longer view and others not; every length of the next one is tried.
  for (std::size_t const longer : {20'000, 100'000, 1'000'000}) {
    EXPECT_EQ(views(200, 1), all_of(1));
    std::vector<double> const in(longer, 1);
    EXPECT_THROW(ranks.run([&](member& me) {
      if (me.rank() == last) throw std::runtime_error("before its view");
      static_cast<void>(allreduce_view(me, in));
    }),
                 std::runtime_error);
    for (std::size_t const count : {10UL, 200UL, 10'000UL, longer, longer + 1}) EXPECT_EQ(views(count, 2), all_of(2));
  }
}

/// Red if views of the two kinds meet, or are written while a rank still reads them.
TEST_P(Lifetimes, ShorterViewsAreEachRanksOwnAndLongOnesTheNodes) {
  std::size_t const most = choice::private_view_bytes / sizeof(double), many = (std::size_t{9} << 20) / sizeof(double);
  std::vector<double const*> shorter(ranks.size()), medium(ranks.size()), longer(ranks.size());
  ranks.run([&](member& me) {
    for (int turn = 1; turn <= 10; ++turn) {
      std::vector<double> const in(many, turn);
      auto const view = [&](std::size_t count, std::vector<double const*>& seen) {
        auto const found = allreduce_view(me, std::span(in.data(), count));
        seen[me.rank()] = found.data();
        EXPECT_EQ(std::ranges::count(found, turn * static_cast<double>(ranks.size())), count);
      };
      view(most, shorter);
      view(many, longer);
      view(8 * most, medium);
      view(many, longer);
    }
  });
  std::ranges::sort(shorter);
  EXPECT_EQ(std::ranges::adjacent_find(shorter), shorter.end());
  std::ranges::sort(medium);
  bool const are_crowded = ranks.size() > topology::machine().processors.size();
  EXPECT_EQ(std::ranges::adjacent_find(medium) == medium.end(), !are_crowded || ranks.size() == 1);
  std::ranges::sort(longer);
  auto const distinct = static_cast<std::size_t>(std::unique(longer.begin(), longer.end()) - longer.begin());
  EXPECT_LE(distinct, topology::machine().nodes.size());
}

/// A split team lives as long as one of its members: here rank 0's.
TEST_P(Lifetimes, AShortViewOfASplitTeamOutlivesTheMemberThatMadeIt) {
  std::vector<int> got(ranks.size());
  ranks.run([&](member& me) {
    int const one = 1;
    std::optional<member> part = me.split(0);
    auto const view = allreduce_view(*part, std::span(&one, 1));
    if (me.rank() != 0) part.reset();
    got[me.rank()] = view[0];
    barrier(me);
  });
  EXPECT_EQ(got, std::vector<int>(ranks.size(), static_cast<int>(ranks.size())));
}

/// In place or apart by the length of the array would be a trap.
TEST_P(Lifetimes, AViewIsNoInputOfTheNext) {
  for (std::size_t const count : {3, 300}) {
    expect_everybody_threw<argument_error>(outcomes(ranks, [&](member& me) {
      std::vector<double> const in(count, 1);
      static_cast<void>(allreduce_view(me, allreduce_view(me, in)));
    }));
    EXPECT_EQ(views(count, 2), all_of(2));
  }
}

TEST_P(Lifetimes, LengthsOnBothSidesOfShortViewsAreAnError) {
  if (GetParam() == 1) return;
  std::size_t const most = choice::private_view_bytes / sizeof(double);
  std::vector<double> const in(most + 1, 1);
  expect_everybody_threw<mismatch_error>(outcomes(ranks, [&](member& me) {
    static_cast<void>(allreduce_view(me, std::span(in.data(), me.rank() == 0 ? most : most + 1)));
  }));
  for (std::size_t const count : {most, most + 1}) EXPECT_EQ(views(count, 3), all_of(3));
}

TEST_P(Lifetimes, ViewsOfLengthsThatDifferAreAnErrorAndLeaveNothingBehind) {
  if (GetParam() == 1) return;
  for (int repetition = 0; repetition < 3; ++repetition) {
    std::vector<double> const in(50'000U << repetition, 1);
    expect_everybody_threw<mismatch_error>(outcomes(ranks, [&](member& me) {
      static_cast<void>(allreduce_view(me, std::span(in.data(), me.rank() == 0 ? in.size() : 5)));
    }));
    for (std::size_t const count : {7, 700}) EXPECT_EQ(views(count, 3), all_of(3));
  }
}

TEST_P(Lifetimes, AfterAResetAdoptedRanksViewTheSameMemory) {
  auto const adopted = team::adopt(ranks.size());
  std::vector<double> const shorter(1'000, 2), longer(100'000, 1);  // both beyond the ranks' own small views
  std::vector<double> got(ranks.size());
  std::vector<std::thread> threads;
  for (rank_t r = 0; r < ranks.size(); ++r) {
    threads.emplace_back([&, r] {
      auto me = adopted->join(r);
      static_cast<void>(allreduce_view(me, shorter));
      try {
        if (r == last) adopted->abort("before its view");
        static_cast<void>(allreduce_view(me, longer));
      } catch (aborted const&) {
      }
      me->reset(team::clock::now() + std::chrono::seconds(60));
      got[r] = allreduce_view(me, shorter)[999];
      barrier(me);
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(got, all_of(2));
}

/// Pages that are gone once freed: whoever touches them afterwards is found out.
class pages {
 public:
  explicit pages(std::size_t count)
      : count_(count),
        begin_(static_cast<double*>(
            mmap(nullptr, count * sizeof(double), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {}
  ~pages() { munmap(begin_, count_ * sizeof(double)); }
  pages(pages const&) = delete;
  pages& operator=(pages const&) = delete;
  std::span<double> all() const { return {begin_, count_}; }

 private:
  std::size_t const count_;
  double* const begin_;
};

TEST_P(Lifetimes, RequestsOfSplitTeamsEndWithTheirRun) {
  std::vector<std::optional<member>> parts(ranks.size());
  std::vector<std::optional<request>> requests(ranks.size());
  {
    std::vector<std::unique_ptr<pages>> arrays;
    for (rank_t r = 0; r < 2 * ranks.size(); ++r) arrays.push_back(std::make_unique<pages>(200'000));
    std::atomic<rank_t> begun = 0;
    EXPECT_THROW(ranks.run([&](member& me) {
      rank_t const r = me.rank();
      parts[r].emplace(me.split(0));
      requests[r].emplace(start_allreduce(*parts[r], arrays[2 * r]->all(), arrays[2 * r + 1]->all()));
      ++begun;
      while (begun < ranks.size()) std::this_thread::yield();
      if (r == 0) throw std::runtime_error("of the user");
      for (;;) barrier(me);
    }),
                 std::runtime_error);
  }
  for (int run = 0; run < 3; ++run) {
    std::vector<outcome> const all = outcomes(ranks, [&](member& me) {
      double sum = 0;
      for (int k = 0; k < 20; ++k) {
        std::vector<double> in(10, 1.0), out(10);
        request each = start_allreduce(me, in, out);
        barrier(me);
        each.wait();
        sum += out[9];
      }
      EXPECT_EQ(sum, 20.0 * me.size());
    });
    for (outcome const& one : all) EXPECT_EQ(one.type, "") << one.message;
  }
  for (auto& one : requests) EXPECT_THROW(one->test(), argument_error);
}

TEST_P(Lifetimes, SplitMembersRefuseToServeInALaterRun) {
  std::vector<std::optional<member>> parts(ranks.size());
  ranks.run([&](member& me) { parts[me.rank()].emplace(me.split(0)); });
  auto const all = outcomes(ranks, [&](member& me) { barrier(*parts[me.rank()]); });
  expect_everybody_threw<argument_error>(all);
  expect_works(ranks);
}

TEST_P(Lifetimes, EverythingMayOutliveItsTeam) {
  std::vector<std::optional<member>> parts(GetParam());
  std::vector<request> complete(GetParam()), of_parts(GetParam()), unobserved(GetParam());
  std::optional<request> given_up;
  std::vector<std::vector<double>> arrays(8 * GetParam(), std::vector<double>(10, 1.0));
  {
    team ends(options_for(GetParam()));
    ends.run([&](member& me) {
      rank_t const r = me.rank();
      parts[r].emplace(me.split(0));
      complete[r] = start_allreduce(me, arrays[8 * r], arrays[8 * r + 1]);
      complete[r].wait();
      of_parts[r] = start_allreduce(*parts[r], arrays[8 * r + 2], arrays[8 * r + 3]);
      of_parts[r].wait();
      unobserved[r] = start_allreduce(me, arrays[8 * r + 4], arrays[8 * r + 5]);
      while (me.state().requests.live != 0) runtime::advance_all(me.state());
      barrier(me);
    });
    try {
      ends.run([&](member& me) {
        if (me.rank() == 0) given_up.emplace(start_allreduce(me, arrays[6], arrays[7]));
      });
    } catch (error const&) {
    }
  }
  for (request& one : unobserved) EXPECT_THROW(one.test(), argument_error);
  EXPECT_THROW(of_parts[0].wait(), argument_error);
  if (GetParam() > 1) {
    EXPECT_THROW(barrier(*parts[0]), error);
  }
  parts.clear();
  complete.clear();
}

TEST_P(Lifetimes, ARequestMayOutliveItsSplitMember) {
  for (int repetition = 0; repetition < 20; ++repetition) {
    std::vector<std::vector<double>> arrays(2 * ranks.size(), std::vector<double>(1000, 1.0));
    auto const all = outcomes(ranks, [&](member& me) {
      request kept;
      {
        member part = me.split(0);
        kept = start_allreduce(part, arrays[2 * me.rank()], arrays[2 * me.rank() + 1]);
        if (repetition % 2 == 0) kept.wait();
      }
      kept.wait();
    });
    for (outcome const& one : all) EXPECT_NE(one.type, "") << "of a member that has ended";
    expect_works(ranks);
  }
}

TEST_P(Lifetimes, RequestsAreNotCompleteBecauseAnotherIsGivenUp) {
  if (GetParam() == 1) return;
  std::vector<std::vector<double>> arrays(4 * ranks.size(), std::vector<double>(1000, 1.0));
  auto const all = outcomes(ranks, [&](member& me) {
    if (me.rank() != 0) return barrier(me);
    request kept = start_allreduce(me, arrays[0], arrays[1]);
    static_cast<void>(start_allreduce(me, arrays[2], arrays[3]));
    kept.wait();
  });
  for (outcome const& one : all) EXPECT_NE(one.type, "");
  expect_works(ranks);
}

TEST_P(Lifetimes, AnAdoptedTeamMayEndBeforeItsRanksLeave) {
  auto adopted = team::adopt(ranks.size());
  std::atomic<rank_t> inside = 0;
  std::atomic<bool> gone = false;
  std::vector<outcome> all(ranks.size());
  std::vector<std::thread> threads;
  for (rank_t r = 0; r < ranks.size(); ++r) {
    threads.emplace_back([&, r] {
      auto me = adopted->join(r);
      ++inside;
      while (!gone) std::this_thread::yield();
      all[r] = outcome_of([&] { barrier(me); });
    });
  }
  while (inside < ranks.size()) std::this_thread::yield();
  adopted.reset();
  gone = true;
  for (std::thread& t : threads) t.join();
  expect_everybody_threw<aborted>(all, {"destroyed"});
}

TEST_P(Lifetimes, ABodyThatEndsItsThreadAbortsTheTeam) {
  if (GetParam() == 1) return;
  team loses(options_for(GetParam()));
  try {
    loses.run([&](member& me) {
      if (me.rank() == last) pthread_exit(nullptr);
      barrier(me);
    });
    FAIL() << "nothing was thrown";
  } catch (aborted const& thrown) {
    EXPECT_NE(std::string(thrown.what()).find("rank " + std::to_string(last)), std::string::npos) << thrown.what();
  }
  EXPECT_THROW(loses.run([](member&) {}), aborted);
}

TEST_P(Lifetimes, TheThreadThatCallsRunMayEndInIt) {
  std::atomic<bool> unwound = false;
  struct unwinding {
    std::atomic<bool>& seen;
    ~unwinding() { seen = true; }
  };
  std::vector<outcome> all(ranks.size());
  std::thread ends([&] {
    unwinding const here{unwound};
    ranks.run([&](member& me) {
      if (me.rank() == 0) pthread_exit(nullptr);
      all[me.rank()] = outcome_of([&] { barrier(me); });
    });
    ADD_FAILURE() << "the thread went on";
  });
  ends.join();
  EXPECT_TRUE(unwound);
  for (rank_t r = 1; r < ranks.size(); ++r) EXPECT_NE(all[r].type, "");
  expect_works(ranks);
}

using test::ending_of;

TEST_P(Lifetimes, AForkedChildIsRefusedAtOnceAndMayEnd) {
  if (!test::children_start_threads()) GTEST_SKIP() << "no threads in a child of a process that has some";
  expect_works(ranks);
  EXPECT_EQ(ending_of([&] {
              try {
                ranks.run([](member& me) { barrier(me); });
              } catch (argument_error const& refused) {
                _exit(std::string(refused.what()).find("fork") != std::string::npos ? 3 : 4);
              }
            }),
            "status 3");
  EXPECT_EQ(ending_of([&] {
              ranks.~team();
              _exit(5);
            }),
            "status 5");
  EXPECT_EQ(ending_of([&] {
              team own(options_for(2));
              expect_works(own);
              _exit(::testing::Test::HasFailure() ? 7 : 6);
            }),
            "status 6");
  expect_works(ranks);
}

TEST_P(Lifetimes, ABodyMayExit) {
  if (!test::children_start_threads()) GTEST_SKIP() << "no threads in a child of a process that has some";
  for (rank_t const who : {0U, last}) {
    EXPECT_EQ(ending_of([&] {
                // As one with static storage would be: exit() destroys it in the thread that calls.
                static team* exits = nullptr;
                exits = new team(options_for(GetParam()));
                std::atexit([] { delete exits; });
                exits->run([&](member& me) {
                  if (me.rank() == who) exit(17);
                  for (;;) barrier(me);
                });
              }),
              "status 17");
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Lifetimes, ::testing::Values(1, 2, 3, 5), size_name);

}  // namespace
}  // namespace coset::team_test
