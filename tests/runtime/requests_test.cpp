// SPDX-License-Identifier: Apache-2.0
// Split phase: what may be under way together, in which order it may be waited for, and what giving up means.
// Each test says which change to the library turns it red.
#include <latch>
#include <random>

#include "support/verbs.hpp"

namespace coset::team_test {
namespace {

using std::chrono::milliseconds;

struct Requests : ::testing::TestWithParam<rank_t> {
  team ranks{options_for(GetParam())};
};

/// Small enough for the entry lines, staged, and read in peers' arrays: one to several steps.
std::vector<std::size_t> const counts{4, 3000, 200'000};

std::vector<double> ones(std::size_t count) { return std::vector<double>(count, 1.0); }

bool all_are(std::vector<double> const& values, rank_t what) {
  return std::all_of(values.begin(), values.end(), [what](double v) { return v == what; });
}

/// Red if wait() advances its own operation only: the ranks then wait for each other in a circle.
TEST_P(Requests, StartedInOneOrderMayBeWaitedForInAnother) {
  for (std::size_t const count : counts) {
    std::atomic<rank_t> right = 0;
    ranks.run([&](member& me) {
      auto a = ones(count), b = ones(count), c = ones(count);
      request first = start_allreduce(me, a), second = start_allreduce(me, b), third = start_allreduce(me, c);
      if (me.rank() % 2 == 0) {
        third.wait();
        first.wait();
        second.wait();
      } else {
        first.wait();
        second.wait();
        third.wait();
      }
      right += all_are(a, me.size()) && all_are(b, me.size()) && all_are(c, me.size());
    });
    EXPECT_EQ(right, ranks.size());
  }
}

/// Red if a blocking call does not advance what is under way: rank 0 sits in the barrier while the others need it.
TEST_P(Requests, AreAdvancedByABlockingCall) {
  for (std::size_t const count : counts) {
    std::atomic<rank_t> right = 0;
    ranks.run([&](member& me) {
      auto a = ones(count);
      request under_way = start_allreduce(me, a);
      if (me.rank() == 0) barrier(me);
      under_way.wait();
      if (me.rank() != 0) barrier(me);
      right += all_are(a, me.size());
    });
    EXPECT_EQ(right, ranks.size());
  }
}

/// Red if a channel is taken again before its operation is complete.
TEST_P(Requests, BeyondEightCompleteTheOldest) {
  for (std::size_t const count : counts) {
    std::atomic<int> right = 0;
    constexpr int starts = 20;
    ranks.run([&](member& me) {
      std::vector<std::vector<double>> arrays(starts, ones(count));
      std::vector<request> all;
      for (auto& each : arrays) all.push_back(start_allreduce(me, each));
      for (int k = 0; k + 8 < starts; ++k) EXPECT_TRUE(all[static_cast<std::size_t>(k)].test());
      for (request& each : all) each.wait();
      for (auto const& each : arrays) right += all_are(each, me.size());
    });
    EXPECT_EQ(right, starts * static_cast<int>(ranks.size()));
  }
}

/// Red if wait_for() gives the operation up at its deadline, or goes on from its beginning.
TEST_P(Requests, WhoseDeadlinePassesStayLiveAndCompleteLater) {
  if (ranks.size() == 1) return;
  for (std::size_t const count : counts) {
    std::latch too_late(1);
    std::atomic<rank_t> right = 0;
    ranks.run([&](member& me) {
      auto a = ones(count);
      if (me.rank() + 1 == me.size()) too_late.wait();
      request under_way = start_allreduce(me, a);
      if (me.rank() == 0) {
        EXPECT_FALSE(under_way.wait_for(milliseconds(2)));
        EXPECT_FALSE(under_way.wait_for(milliseconds(0)));
        EXPECT_FALSE(under_way.test());
        too_late.count_down();
      }
      while (!under_way.wait_for(milliseconds(1))) {
      }
      EXPECT_TRUE(under_way.test());
      right += all_are(a, me.size());
    });
    EXPECT_EQ(right, ranks.size());
  }
}

/// Red if blocking and split-phase calls share a channel: they would take each other's entries.
TEST_P(Requests, MixWithBlockingCallsOfTheSameShape) {
  std::atomic<rank_t> right = 0;
  ranks.run([&](member& me) {
    auto a = ones(100);
    std::vector<double> b(100, 2.0);
    if (me.rank() % 2 == 0) {
      request under_way = start_allreduce(me, a);
      allreduce(me, b);
      under_way.wait();
    } else {
      request under_way = start_allreduce(me, a);
      under_way.wait();
      allreduce(me, b);
    }
    right += all_are(a, me.size()) && all_are(b, 2 * me.size());
  });
  EXPECT_EQ(right, ranks.size());
}

/// Red if the operation is not kept: the lambda's captures lie on a stack that is gone.
TEST_P(Requests, KeepTheOperation) {
  std::atomic<rank_t> right = 0;
  ranks.run([&](member& me) {
    std::vector<long> values(2000, 1);
    request under_way = [&] {
      std::array<long, 64> captured{};
      captured.fill(3);
      return start_allreduce(me, values, [captured](long a, long b) { return a + b + captured[7] - 3; });
    }();
    std::array<volatile long, 256> overwrite{};
    for (auto& word : overwrite) word = -1;
    under_way.wait();
    right += std::count(values.begin(), values.end(), long{me.size()}) == 2000;
  });
  EXPECT_EQ(right, ranks.size());
}

/// Red if ~request does nothing: the others would fold into an array that is gone, or wait for ever.
TEST_P(Requests, GivenUpAbortTheTeam) {
  if (ranks.size() == 1) return;
  for (std::size_t const count : counts) {
    auto const all = outcomes(ranks, [&](member& me) {
      auto a = ones(count);
      if (me.rank() == 1) {
        auto given_up = ones(count);
        (void)start_allreduce(me, given_up);
        (void)start_allreduce(me, given_up = ones(count));
        (void)start_allreduce(me, given_up = ones(count));  // nobody joins this one, so that it cannot complete
      } else {
        request under_way = start_allreduce(me, a);
        request another = start_allreduce(me, a);
        under_way.wait();
      }
      for (;;) barrier(me);
    });
    // Rank 1 has given up, and does something else than the others: whichever is heard of first is told.
    for (rank_t r = 0; r < ranks.size(); ++r) {
      EXPECT_TRUE(all[r].type == type_name<aborted>() || all[r].type == type_name<argument_error>() ||
                  all[r].type == type_name<mismatch_error>())
          << all[r].message;
    }
    expect_works(ranks);
  }
}

/// Red if requests carry no generation: this one would touch the arrays of an operation that never was.
TEST_P(Requests, OfAnEarlierRunAreRefused) {
  std::vector<request> kept(ranks.size());
  std::vector<std::vector<double>> arrays(ranks.size(), ones(1000));
  ranks.run([&](member& me) {
    kept[me.rank()] = start_allreduce(me, arrays[me.rank()]);
    kept[me.rank()].wait();
  });
  ranks.run([&](member& me) { EXPECT_THROW(kept[me.rank()].wait(), argument_error); });
  kept.clear();
  expect_works(ranks);
}

/// Red if a failure that was recorded between two tests goes unseen.
TEST_P(Requests, ThrowWhatTheTeamFailsWith) {
  if (ranks.size() == 1) return;
  auto const all = outcomes(ranks, [&](member& me) {
    auto a = ones(5000);
    if (me.rank() == 0) {
      ranks.abort("enough");
      barrier(me);
    } else {
      request under_way = start_allreduce(me, a);
      while (!under_way.test()) {
      }
    }
  });
  expect_everybody_threw<aborted>(all, {"enough"});
  expect_works(ranks);
}

TEST_P(Requests, ThatAreEmptyOrMovedFromAreComplete) {
  request none;
  EXPECT_TRUE(none.test());
  none.wait();
  ranks.run([](member& me) {
    auto a = ones(10);
    request first = start_allreduce(me, a);
    request second = std::move(first);
    EXPECT_TRUE(first.test());  // NOLINT(bugprone-use-after-move): that it is complete is the point
    second.wait();
    EXPECT_TRUE(all_are(a, me.size()));
  });
}

INSTANTIATE_TEST_SUITE_P(Sizes, Requests, ::testing::Values(1, 2, 3, 5, 8, 12), size_name);

}  // namespace
}  // namespace coset::team_test
