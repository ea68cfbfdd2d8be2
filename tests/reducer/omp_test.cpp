// SPDX-License-Identifier: Apache-2.0
// Reductions of arrays in OpenMP regions, beside OpenMP's own.
#include "coset/omp.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <tuple>

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
      omp::reduction sum(ours);
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

/// Red if who destroys it writes into arrays that may be gone.
TEST(OmpReduction, WritesNothingButWhenItCombines) {
  for (std::size_t const n : lengths()) {
    std::vector<double> least(n, 5);
    for (bool const combines : {false, true}) {
      omp::reduction smallest(into(least, minimum{}));
#pragma omp parallel num_threads(3)
      smallest.local()[n - 1] = omp_get_thread_num();
      EXPECT_EQ(least[n - 1], 5);
      if (combines) smallest.combine();
    }
    EXPECT_EQ(least[n - 1], 0);
    EXPECT_EQ(std::count(least.begin(), least.end(), 5.0), static_cast<std::ptrdiff_t>(n - 1));
  }
}

/// A deposition: three arrays of two types and three lengths, a sum, a maximum, and where it is.
TEST(OmpReduction, OfManyThingsIsCombinedAtOnce) {
  for (std::size_t const n : lengths())
    for (int const threads : {1, 3, 8}) {
      std::vector<double> charge(n, 1);
      std::vector<float> current(n / 2 + 1, 2);
      std::array<long, 5> kinds = {};
      double energy = 10;
      located<int> fastest{0, -1};
      omp::reduction sums(charge, std::span(current), kinds, energy, into(fastest, maximum_location{}));
      static_assert(
          std::same_as<decltype(sums.local()),
                       std::tuple<std::span<double>, std::span<float>, std::span<long>, double&, located<int>&>>);
      std::size_t const particles = 20'000;
      for (int step = 1; step <= 3; ++step) {
#pragma omp parallel num_threads(threads)
        {
          // With other compilers than clang before 16: auto [q, j, k, e, top] = sums.local().
          auto mine = sums.local();
          auto const q = std::get<0>(mine);
          auto const j = std::get<1>(mine);
          auto const k = std::get<2>(mine);
          double& e = std::get<3>(mine);
          located<int>& top = std::get<4>(mine);
#pragma omp for nowait
          for (std::size_t i = 0; i < particles; ++i) {
            q[i * 13 % n] += 1;
            j[i * 7 % j.size()] += 2;
            k[i % 5] += 1;
            e += 0.5;
            top = maximum_location{}(top, located<int>{static_cast<int>(i * 31 % 1009) * step, static_cast<long>(i)});
          }
          if (step == 2) {
            sums.combine(omp::nowait);
          } else {
            sums.combine();
          }
        }
        double const all = static_cast<double>(particles) * step;
        ASSERT_EQ(std::accumulate(charge.begin(), charge.end(), 0.0), static_cast<double>(n) + all);
        ASSERT_EQ(std::accumulate(current.begin(), current.end(), 0.0),
                  2 * static_cast<double>(current.size()) + 2 * all);
        ASSERT_EQ(std::accumulate(kinds.begin(), kinds.end(), 0L), static_cast<long>(all));
        ASSERT_EQ(energy, 10 + 0.5 * all);
        ASSERT_EQ(fastest.value, 1008 * step);
        ASSERT_EQ(fastest.index * 31 % 1009, 1008);
      }
    }
}

TEST(OmpReduction, AssignsToWhatItIsTold) {
  for (std::size_t const n : lengths()) {
    std::vector<int> got(n, 77), other(n, 5);
    omp::reduction sum(got);
    for (int round = 0; round < 3; ++round) {
#pragma omp parallel num_threads(4)
      {
        if (round == 1 || omp_get_thread_num() == 2) sum.local()[n - 1] += 1;
        sum.combine(combining::assign);
      }
      EXPECT_EQ(got[n - 1], round == 1 ? 4 : 1);
      EXPECT_EQ(std::count(got.begin(), got.end(), 0), static_cast<std::ptrdiff_t>(n - 1));
    }
#pragma omp parallel num_threads(3)
    {
      sum.local()[0] += 1;
      sum.combine_into(other);
    }
    EXPECT_EQ(other[0], 8);
    EXPECT_EQ(got[n - 1], 1);
  }
}

/// Targets are looked at when they are combined into: vectors that were swapped, or have grown.
TEST(OmpReduction, FollowsItsTarget) {
  std::vector<int> now(1000), later(1000);
  omp::reduction first(now);
  omp::reduction sum(std::move(first));
#pragma omp parallel num_threads(3)
  sum.local()[7] += 1;
  now.swap(later);
  sum.combine();
  EXPECT_EQ(now[7], 3);
  EXPECT_EQ(later[7], 0);
  now.resize(100'000);
  EXPECT_THROW(sum.combine(), argument_error);
  sum.fit();
#pragma omp parallel num_threads(3)
  {
    sum.local()[99'999] += 1;
    sum.combine();
  }
  EXPECT_EQ(now[99'999], 3);
  EXPECT_EQ(now[7], 3);
}

/// As clauses are: a new one for each loop. Threads that come to it in other numbers than before share no copy.
TEST(OmpReduction, MayBeNewForEveryLoop) {
  for (std::size_t const n : lengths())
    for (int loop = 0; loop < 20; ++loop) {
      std::vector<int> got(n);
      omp::reduction sum(got);
      int const threads = 1 + loop % 5;
      for (int const now : {threads, 5 - threads + 1}) {
#pragma omp parallel num_threads(now)
        for (int i = 0; i < 10; ++i) sum.local()[n - 1] += 1;
      }
      sum.combine();
      ASSERT_EQ(got[n - 1], 60);
      ASSERT_EQ(std::accumulate(got.begin(), got.end(), 0), 60);
    }
}

/// A rectangle as std::mdspan's layouts see it: columns may be further apart than they are long.
struct square {
  using element_type = float;
  struct mapping_type {
    std::size_t side, stride;
    std::size_t required_span_size() const { return side == 0 ? 0 : stride * (side - 1) + side; }
    bool is_exhaustive() const { return stride == side; }
    bool operator==(mapping_type const&) const = default;
  };
  float* at;
  mapping_type layout;

  square(float* data, mapping_type of) : at(data), layout(of) {}
  float* data_handle() const { return at; }
  mapping_type const& mapping() const { return layout; }
  float& operator()(std::size_t i, std::size_t j) const { return at[j * layout.stride + i]; }
};

TEST(OmpReduction, OfAViewHasItsLayout) {
  std::vector<float> cells(20 * 20, 1);
  square const field(cells.data(), {20, 20});
  omp::reduction sum(field);
#pragma omp parallel num_threads(4)
  {
    square const mine = sum.local();
    for (std::size_t i = 0; i < 20; ++i) mine(i, i / 2) += 1;
    sum.combine();
  }
  for (std::size_t i = 0; i < 20; ++i)
    for (std::size_t j = 0; j < 20; ++j) ASSERT_EQ(field(i, j), j == i / 2 ? 5 : 1);
}

/// Red if what lies between the columns is written, or other views are taken for the target's.
TEST(OmpReduction, OfViewsWithGapsOrOtherExtentsIsRefused) {
  std::vector<float> cells(20 * 32, 1), others(20 * 20, 1);
  EXPECT_THROW(omp::reduction{square(cells.data(), {20, 32})}, argument_error);
  omp::reduction sum(square(others.data(), {20, 20}));
  sum.local()(3, 4) += 1;
  EXPECT_THROW(sum.combine_into(square(cells.data(), {20, 32})), argument_error);
  EXPECT_EQ(cells, std::vector<float>(20 * 32, 1));
  sum.combine_into(square(cells.data(), {20, 20}));
  EXPECT_EQ(cells[4 * 20 + 3], 2);
}

/// Each region has another number of threads, and threads other numbers, in whichever way the runtime gives them: copies
/// that are asked for again after a combination, beside those that are not, never belong to two. Red under renumbering if
/// a thread keeps a copy of a number that it no longer has.
TEST(OmpReduction, LocalAgainAfterACombinationIsNobodyElses) {
  std::size_t const n = 100;
  std::vector<long> got(n);
  omp::reduction sum(got);
  long updates = 0;
  for (int round = 0; round < 200; ++round) {
    int const threads = 2 + round % 4;
#pragma omp parallel num_threads(threads) reduction(+ : updates)
    {
      auto mine = sum.local();
      for (std::size_t i = 0; i < n; ++i) mine[i] += 1;
      sum.combine();
      auto again = omp_get_thread_num() % 2 == 0 ? sum.local() : mine;
      for (std::size_t i = 0; i < n; ++i) again[i] += 1;
      sum.combine();
      updates += 2;
    }
  }
  EXPECT_EQ(got, std::vector<long>(n, updates));
}

TEST(OmpSparseReduction, FoldsWhatIsTouched) {
  std::size_t const n = 1 << 20;
  for (int const threads : {1, 3}) {
    std::vector<float> got(n, 1), expected = got;
    omp::sparse_reduction sum{std::span(got)};
    for (int round = 0; round < 3; ++round) {
      auto const updates = random_updates<float, plus>(n, 1000, spread::sparse, test::seed());
      apply(expected, updates, plus{});
#pragma omp parallel num_threads(threads)
      {
        apply(sum.local(), updates, static_cast<std::uint32_t>(omp_get_thread_num()),
              static_cast<std::uint32_t>(threads), plus{});
        sum.combine();
      }
      ASSERT_EQ(got, expected);
    }
  }
}

/// What local() has given stays good, in regions of one thread and after the last combine() too.
TEST(OmpReduction, CombinesWhatIsReducedAfterItCombined) {
  for (std::size_t const n : lengths())
    for (int const threads : {1, 2, 4}) {
      std::vector<int> got(n);
      omp::reduction sum(got);
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
  omp::reduction sum(got);
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
  for (std::size_t i = 0; i < 1000; ++i) sum.local()[i] += 1;
  sum.combine();
  omp_set_max_active_levels(1);
  EXPECT_EQ(std::count(got.begin(), got.end(), 4), 1000);
}

TEST(OmpReduction, TakesOperationsOfYourOwn) {
  auto const absolute_larger = [](int a, int b) { return std::abs(b) > std::abs(a) ? b : a; };
  std::vector<int> got(10);
  omp::reduction largest(into(got, absolute_larger, 0));
#pragma omp parallel num_threads(4)
  {
    int& mine = largest.local()[9];
    mine = absolute_larger(mine, -omp_get_thread_num());
    largest.combine();
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
