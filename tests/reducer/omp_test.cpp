// SPDX-License-Identifier: Apache-2.0
// Reductions of arrays in OpenMP regions, beside OpenMP's own.
#include "coset/omp.hpp"

#include <numeric>
#include <optional>

#include "reducer/updates.hpp"

namespace coset::reducer_test {
namespace {

std::vector<std::size_t> lengths() { return {1, 100, 1000, 50'000, 300'000}; }

TEST(OmpReduction, EqualsThatOfOpenMP) {
  for (std::size_t const n : lengths())
    for (int const threads : {1, 2, 3, 8}) {
      auto const updates = random_updates<int, plus>(n, 20'000, spread::dense, test::seed());
      std::vector<int> theirs(n, 3), ours(n, 3);
      int* const to = theirs.data();
      omp::reduction sum(ours.data(), n);
      for (int round = 0; round < 3; ++round) {
#pragma omp parallel for reduction(+ : to[:n]) num_threads(threads)
        for (std::size_t i = 0; i < updates.size(); ++i) to[updates[i].index] += updates[i].value;

#pragma omp parallel num_threads(threads)
        {
          auto const mine = sum.local();
#pragma omp for nowait
          for (std::size_t i = 0; i < updates.size(); ++i) mine[updates[i].index] += updates[i].value;
          if (round % 2 == 0) {
            sum.combine(omp::nowait);
          } else {
            sum.combine();
            if (ours[0] != theirs[0]) {
#pragma omp critical
              ADD_FAILURE() << "complete on return, on every thread";
            }
          }
        }
        ASSERT_EQ(ours, theirs) << n << " elements, " << threads << " threads, round " << round;
      }
    }
}

TEST(OmpReduction, CombinesWhatIsLeftWhenItDies) {
  for (std::size_t const n : lengths()) {
    std::vector<double> least(n, 5);
    {
      omp::reduction smallest(least.data(), n, minimum{});
#pragma omp parallel num_threads(3)
      smallest.local()[n - 1] = omp_get_thread_num();
    }
    EXPECT_EQ(least[n - 1], 0);
    EXPECT_EQ(std::count(least.begin(), least.end(), 5.0), static_cast<std::ptrdiff_t>(n - 1));
  }
}

/// What local() has given stays good, in regions of one thread and after the last combine() too.
TEST(OmpReduction, CombinesWhatIsReducedAfterItCombined) {
  for (std::size_t const n : lengths())
    for (int const threads : {1, 2, 4}) {
      std::vector<int> got(n);
      omp::reduction sum(got.data(), n);
#pragma omp parallel num_threads(threads)
      {
        auto const mine = sum.local();
        for (int step = 0; step < 10; ++step) {
          mine[n - 1] += 1;
          sum.combine();
        }
        mine[n - 1] += 1;
      }
      EXPECT_EQ(got[n - 1], 10 * threads) << n;
      sum.combine();
      EXPECT_EQ(got[n - 1], 11 * threads) << n;
    }
}

TEST(OmpReduction, ServesAgainAfterAnOperationThrewAndItWasReset) {
  static std::atomic<bool> throws;
  auto const sum_or_throw = [](int a, int b) {
    if (throws && b == 77) throw std::runtime_error("77");
    return a + b;
  };
  for (std::size_t const n : {10u, 100'000u}) {
    std::vector<int> got(n);
    omp::reduction sum(got.data(), n, sum_or_throw, 0);
    std::atomic<int> thrown = 0;
    throws = true;
    for (int region = 0; region < 3; ++region) {
#pragma omp parallel num_threads(4)
      {
        auto const mine = sum.local();
        for (std::size_t i = 0; i < n; ++i) mine[i] = omp_get_thread_num() == 2 ? 77 : 1;
        try {
          sum.combine(omp::nowait);
        } catch (std::runtime_error const&) {
          ++thrown;
        }
      }
      sum.reset();
    }
    EXPECT_GE(thrown, 3);
    throws = false;
    std::fill(got.begin(), got.end(), 0);
#pragma omp parallel num_threads(4)
    {
      auto const mine = sum.local();
      for (std::size_t i = 0; i < n; ++i) mine[i] += 77;
      sum.combine(omp::nowait);
    }
    EXPECT_EQ(static_cast<std::size_t>(std::count(got.begin(), got.end(), 4 * 77)), n);
  }
}

TEST(OmpReduction, GivesTheSameBitsOnEveryRun) {
  std::size_t const n = 20'000;
  std::optional<std::vector<float>> before;
  for (int run = 0; run < 5; ++run) {
    std::vector<float> got(n);
    omp::reduction sum(std::span<float>{got});
#pragma omp parallel num_threads(4)
    {
      auto const mine = sum.local();
#pragma omp for schedule(static) nowait
      for (std::size_t i = 0; i < 10 * n; ++i) mine[i * 7 % n] += 1.0f / static_cast<float>(i + 1);
      sum.combine();
    }
    if (before) {
      EXPECT_EQ(*before, got);
    }
    before = got;
  }
}

TEST(OmpReduction, HoldsInNestedRegions) {
  omp_set_max_active_levels(2);
  std::vector<int> got(1000);
  {
    omp::reduction sum(got.data(), got.size());
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
    {
      auto const mine = sum.local();
      for (std::size_t i = 0; i < 1000; ++i) mine[i] += 1;
    }
  }
  omp_set_max_active_levels(1);
  EXPECT_EQ(std::count(got.begin(), got.end(), 4), 1000);
}

TEST(OmpReduction, TakesOperationsOfYourOwn) {
  auto const absolute_larger = [](int a, int b) { return std::abs(b) > std::abs(a) ? b : a; };
  std::vector<int> got(10);
  {
    omp::reduction largest(got.data(), got.size(), absolute_larger, 0);
#pragma omp parallel num_threads(4)
    {
      int& mine = largest.local()[9];
      mine = absolute_larger(mine, -omp_get_thread_num());
    }
  }
  EXPECT_EQ(got[9], -3);
}

TEST(OmpMembers, ReduceThroughATeamInAnyRegion) {
  for (int region = 1; region <= 5; ++region)
    for (int const threads : {2, 4, 2}) {
      std::vector<double> sums(static_cast<std::size_t>(threads));
#pragma omp parallel num_threads(threads)
      {
        omp::member_here me;
        sums[me->rank()] = allreduce(me, double(region) * (me->rank() + 1));
      }
      EXPECT_EQ(sums, std::vector<double>(sums.size(), region * threads * (threads + 1) / 2.0));
    }
}

TEST(OmpMembers, OfRegionsAtTheSameTimeDoNotMeet) {
  omp_set_max_active_levels(2);
  std::vector<int> sums(4);
#pragma omp parallel num_threads(2)
  {
    int const outer = omp_get_thread_num();
#pragma omp parallel num_threads(2)
    {
      omp::member_here me;
      sums[static_cast<std::size_t>(2 * outer) + me->rank()] = allreduce(me, outer * 10 + 1);
    }
  }
  omp_set_max_active_levels(1);
  EXPECT_EQ(sums, (std::vector<int>{2, 2, 22, 22}));
}

}  // namespace
}  // namespace coset::reducer_test
