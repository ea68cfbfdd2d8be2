// SPDX-License-Identifier: Apache-2.0
// Combinations that some threads of a region do not call: told, refused or ended, never silently late.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>

#include "coset/omp.hpp"
#include "reducer/updates.hpp"

namespace coset::reducer_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// One that the last thread to come folds alone, one that all fold.
std::vector<std::size_t> short_and_long() { return {10, 100'000}; }

/// What mismatch_error says, empty if nothing is thrown.
std::string refusal(auto const& call) {
  try {
    call();
  } catch (mismatch_error const& e) {
    return e.what();
  }
  return "";
}

/// Programs that hang or end: started anew, as OpenMP's threads do not survive a fork.
class program_death_test : public testing::Test {
 protected:
  program_death_test() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  static void limit_waits() {
    setenv("COSET_STUCK", "0.02", 1);
    setenv("COSET_TIMEOUT", "0.2", 1);
  }
  static constexpr char const* all_words =
      "stuck. 1 of 2 threads has called combine\\((nowait)?\\) on a reducer of 10+ double, coset::plus, and waits .* s "
      ".*every thread of the region has to call it.*said once.*1 of 2 threads.*COSET_TIMEOUT ends the program";
};
using OmpLateDeathTest = program_death_test;
class OmpMissingDeathTest : public program_death_test, public testing::WithParamInterface<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Lengths, OmpMissingDeathTest, testing::ValuesIn(short_and_long()));

TEST_P(OmpMissingDeathTest, CombineByOneThreadIsToldAndEnded) {
  std::vector<double> bins(GetParam());
  omp::reduction sum(bins);
  auto const by_master = [&] {
    limit_waits();
#pragma omp parallel num_threads(2)
    {
      sum.local()[0] += 1;
#pragma omp barrier
#pragma omp master
      sum.combine();
    }
  };
  EXPECT_DEATH(by_master(), all_words);
}

TEST_P(OmpMissingDeathTest, CombineInASingleConstructIsToldAndEnded) {
  std::vector<double> bins(GetParam());
  omp::reduction sum(bins);
  auto const by_one = [&] {
    limit_waits();
#pragma omp parallel num_threads(2)
    {
      sum.local()[0] += 1;
#pragma omp single nowait
      sum.combine();
    }
  };
  EXPECT_DEATH(by_one(), all_words);
}

/// A thread that calls it once more than the others do.
TEST_P(OmpMissingDeathTest, CombineInABranchIsToldAndEnded) {
  std::vector<double> bins(GetParam());
  omp::reduction sum(bins);
  auto const in_branch = [&] {
    limit_waits();
#pragma omp parallel num_threads(2)
    {
      sum.combine();
      if (omp_get_thread_num() == 1) sum.combine();
    }
  };
  EXPECT_DEATH(in_branch(), all_words);
}

/// Nobody catches it: the region ends the program with the words.
TEST_F(OmpLateDeathTest, TheNextCombinationEndsTheProgram) {
  std::vector<double> bins(10);
  omp::reduction sum(bins);
  auto const by_master = [&] {
    for (int round = 1; round <= 4; ++round) {
#pragma omp parallel num_threads(2)
      {
        sum.local()[0] += 1;
#pragma omp barrier
#pragma omp master
        sum.combine(omp::nowait);
      }
    }
  };
  EXPECT_DEATH(by_master(), "1 of 2 threads has called combine\\(nowait\\) on a reducer of 10 double");
}

/// All threads fold the long ones, so they have to meet.
TEST_F(OmpLateDeathTest, CombineWithoutWaitingIsToldWhereItHasToWait) {
  std::vector<double> bins(100'000);
  omp::reduction sum(bins);
  auto const by_master = [&] {
    limit_waits();
#pragma omp parallel num_threads(2)
#pragma omp master
    sum.combine(omp::nowait);
  };
  EXPECT_DEATH(by_master(), all_words);
}

/// Red if arrivals survive their region: the second one's would complete the first one's, or be completed by it.
TEST(OmpMissing, ThreadsThatDidNotComeAreMissedAtTheNextUse) {
  // Which threads of regions of how many call combine(nowait), region by region, up to the one that finds it.
  struct {
    std::vector<int> threads;
    std::vector<std::vector<int>> who;
  } const cases[] = {
      {{2, 2}, {{0}, {0}}},           // master
      {{2, 2}, {{0}, {1}}},           // single
      {{2, 2}, {{1}, {0, 1}}},        // a branch, once
      {{3, 3}, {{0, 1}, {2}}},        // together they would be all
      {{4, 2}, {{2}, {0, 1}}},        // a smaller region
      {{2, 4}, {{1}, {0, 1, 2, 3}}},  // a larger one
      {{2, 1}, {{1}, {0}}},           // one of a single thread
      {{3, 2, 2}, {{0, 1, 2}, {1}, {1}}},
  };
  for (auto const& each : cases) {
    std::vector<double> bins(10);
    omp::reduction sum(bins);
    std::size_t const last = each.who.size() - 1;
    std::string found;
    for (std::size_t region = 0; region <= last; ++region) {
#pragma omp parallel num_threads(each.threads[region])
      {
        sum.local()[0] += 1;
#pragma omp barrier
        if (std::ranges::count(each.who[region], omp_get_thread_num()) != 0) {
#pragma omp critical  // else the first of them may be overtaken, and is the one that is missed then
          {
            std::string const text = refusal([&] { sum.combine(omp::nowait); });
            EXPECT_TRUE(region == last || text.empty()) << text;
            if (found.empty()) found = text;
          }
        }
      }
    }
    auto const came = std::to_string(each.who[last - 1].size());
    EXPECT_THAT(found, StartsWith(came + " of " + std::to_string(each.threads[last - 1]) + " threads ha"));
    EXPECT_THAT(refusal([&] { sum.combine(); }), HasSubstr("combine(nowait) on a reducer of 10 double"));
    EXPECT_THAT(refusal([&] { sum.fit(); }), HasSubstr("combine(nowait) on a reducer of 10 double"));
    sum.reset();
    std::ranges::fill(bins, 0);
#pragma omp parallel num_threads(3)
    {
      sum.local()[0] += 1;
      sum.combine(omp::nowait);
    }
    EXPECT_EQ(bins[0], 3);
  }
}

/// Two threads that call different ones have both called, and neither is complete.
TEST(OmpMissing, CombineAndCombineWithoutWaitingDoNotMeet) {
  std::vector<double> bins(10);
  omp::reduction sum(bins);
  std::vector<std::string> found(2);
#pragma omp parallel num_threads(2)
  {
    sum.local()[0] += 1;
    if (omp_get_thread_num() == 0) found[0] = refusal([&] { sum.combine(omp::nowait); });
#pragma omp barrier
    if (omp_get_thread_num() == 1) found[1] = refusal([&] { sum.combine(); });
  }
  EXPECT_EQ(found[0], "");
  EXPECT_THAT(found[1],
              HasSubstr("has called combine(nowait) on a reducer of 10 double, coset::plus, and another one"));
  sum.reset();
}

/// OpenMP lets barriers meet that are not the same one.
TEST(OmpMissing, ABarrierElsewhereIsNotTakenForACombination) {
  for (std::size_t const n : short_and_long()) {
    std::vector<double> bins(n), others(n);
    omp::reduction sum(bins), other(others);
    std::vector<std::string> found(4);
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0) {
      found[0] = refusal([&] { sum.combine(); });
    } else {
      found[1] = refusal([&] { other.combine(); });
    }
    sum.reset();
    other.reset();
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0) {
      found[2] = found[3] = refusal([&] { sum.combine(); });
    } else {
#pragma omp barrier
    }
    for (std::string const& text : found)
      EXPECT_THAT(text, HasSubstr("the others have met it at another barrier")) << n;
    sum.reset();
  }
}

/// Red if a thread that has come does no more than wait: then nobody executes the task that the other one needs.
TEST(OmpMissing, ThreadsThatHaveComeExecuteTasks) {
  for (std::size_t const n : short_and_long()) {
    std::vector<double> bins(n);
    omp::reduction sum(bins);
    std::atomic<bool> done = false;
    std::atomic<int> tasks = 0;
#pragma omp parallel num_threads(2)
    {
      if (omp_get_thread_num() == 0) {
#pragma omp task
        done = true;
      } else {
        while (!done) std::this_thread::yield();
        for (int k = 0; k < 100; ++k) {
#pragma omp task
          ++tasks;
        }
      }
      sum.local()[0] += 1;
      sum.combine();
      EXPECT_EQ(tasks, 100) << "OpenMP's barrier completes tasks";
    }
    EXPECT_EQ(bins[0], 2);
  }
}

TEST(OmpMissing, IsSaidWhereAReductionEnds) {
  testing::internal::CaptureStderr();
  {
    std::vector<double> bins(10);
    omp::reduction sum(bins);
#pragma omp parallel num_threads(2)
    {
      sum.local()[0] += 1;
#pragma omp master
      sum.combine(omp::nowait);
    }
  }
  EXPECT_THAT(
      testing::internal::GetCapturedStderr(),
      StartsWith("coset: 1 of 2 threads has called combine(nowait) on a reducer of 10 double, coset::plus, which "
                 "is destroyed: what its threads have reduced is lost\n"));
}

/// The same rules, by the same means.
TEST(OmpMissing, OfASparseReductionIsFoundToo) {
  std::vector<double> cells(1000);
  omp::sparse_reduction sum{std::span(cells)};
  for (bool const first : {true, false}) {
#pragma omp parallel num_threads(2)
    {
      sum.local()[0] += 1;
#pragma omp barrier
#pragma omp master
      {
        std::string const text = refusal([&] { sum.combine(omp::nowait); });
        EXPECT_EQ(text.empty(), first) << text;
      }
    }
  }
  EXPECT_THAT(refusal([&] { sum.combine(); }), StartsWith("1 of 2 threads has called combine(nowait)"));
  sum.reset();
}

}  // namespace
}  // namespace coset::reducer_test
