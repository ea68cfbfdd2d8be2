// SPDX-License-Identifier: Apache-2.0
// Reductions of OpenMP regions by operations that throw.
#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <vector>

#include "coset/omp.hpp"
#include "reducer/updates.hpp"

namespace coset::reducer_test {
namespace {

struct picky_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Adds, unless it meets a number that no sum has.
struct picky {
  int operator()(int a, int b) const {
    if (a == -1 || b == -1) throw picky_error("picky");
    return a + b;
  }
};

/// Red if the thread whose operation throws passes no barrier, or the exception leaves the library's own region.
TEST(OmpReduction, OperationsThatThrowDoSoOutOfCombine) {
  for (std::size_t const n : {10u, 100'000u}) {
    std::vector<int> got(n);
    omp::reduction sum(into(got, picky{}, 0));
    for (bool const inside : {true, false}) {
      std::atomic<int> thrown = 0;
#pragma omp parallel num_threads(3)
      {
        sum.local()[n / 2] = -1;
        if (inside) {
          try {
            sum.combine();
          } catch (picky_error const&) {
            ++thrown;
          }
        }
      }
      if (!inside) {
        EXPECT_THROW(sum.combine(), picky_error);
      }
      EXPECT_EQ(thrown > 0, inside);
      sum.reset();
#pragma omp parallel num_threads(3)
      sum.local()[n - 1] += 1;
      std::ranges::fill(got, 0);
      sum.combine();
      EXPECT_EQ(got[n - 1], 3);
    }
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
    omp::reduction sum(into(got, sum_or_throw, 0));
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

/// Thread 0's part has been added to the target already, and stays. Red if reset() leaves anything of the others'.
TEST(OmpReduction, OperationsThatThrowDoSoInPlaceToo) {
  for (std::size_t const n : {10u, 100'000u}) {
    std::vector<int> got(n);
    omp::reduction sum(omp::in_place, into(got, picky{}, 0));
    for (int region = 0; region < 3; ++region) {
      std::fill(got.begin(), got.end(), 0);
      std::atomic<int> thrown = 0;
#pragma omp parallel num_threads(3)
      {
        auto const mine = sum.local();
        for (std::size_t i = 0; i < n; ++i) mine[i] += omp_get_thread_num() == 0 ? 5 : -1;
        try {
          sum.combine();
        } catch (picky_error const&) {
          ++thrown;
        }
      }
      EXPECT_GT(thrown, 0);
      EXPECT_EQ(std::count(got.begin(), got.end(), 5), static_cast<std::ptrdiff_t>(n));
      sum.reset();
    }
    std::fill(got.begin(), got.end(), 0);
#pragma omp parallel num_threads(3)
    {
      auto const mine = sum.local();
      for (std::size_t i = 0; i < n; ++i) mine[i] += 1;
      sum.combine();
    }
    EXPECT_EQ(std::count(got.begin(), got.end(), 3), static_cast<std::ptrdiff_t>(n));
  }
}

}  // namespace
}  // namespace coset::reducer_test
