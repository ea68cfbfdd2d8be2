// SPDX-License-Identifier: Apache-2.0
// Reductions of OpenMP regions whose thread 0 reduces into the targets themselves.
#include <array>
#include <tuple>

#include "coset/omp.hpp"
#include "reducer/updates.hpp"

namespace coset::reducer_test {
namespace {

TEST(OmpReduction, InPlaceEqualsThatOfOpenMP) {
  for (std::size_t const n : {1u, 100u, 1000u, 50'000u, 300'000u})
    for (int const threads : {1, 2, 3, 8}) {
      auto const updates = random_updates<int, plus>(n, 20'000, spread::dense, test::seed());
      std::vector<int> theirs(n, 3), ours(n, 3);
      int* const to = theirs.data();
      int their_count = 1, our_count = 1;
      omp::reduction sum(omp::in_place, ours, our_count);
      for (int round = 0; round < 4; ++round) {
#pragma omp parallel for reduction(+ : to[:n], their_count) num_threads(threads)
        for (std::size_t i = 0; i < updates.size(); ++i) to[updates[i].index] += updates[i].value, ++their_count;

#pragma omp parallel num_threads(threads)
        {
          auto both = sum.local();
          auto const mine = std::get<0>(both);
          int& count = std::get<1>(both);
#pragma omp for nowait
          for (std::size_t i = 0; i < updates.size(); ++i) mine[updates[i].index] += updates[i].value, ++count;
          if (round == 1) {
            sum.combine();
          } else if (round > 0) {
            sum.combine(omp::nowait);
          }
        }
        if (round == 0) sum.combine();  // outside of the region
        ASSERT_EQ(ours, theirs) << n << " elements, " << threads << " threads, round " << round;
        ASSERT_EQ(our_count, their_count) << n << " elements, " << threads << " threads, round " << round;
      }
    }
}

/// Red if thread 0 has a copy, or others have none; or if inner regions' threads of that number meet in the target.
TEST(OmpReduction, InPlaceGivesTheTargetToOneThreadAlone) {
  std::vector<long> bins(1000, 1);
  omp::reduction sum(omp::in_place, bins);
  std::array<long*, 3> of{};
#pragma omp parallel num_threads(3)
  {
    of[static_cast<std::size_t>(omp_get_thread_num())] = sum.local().data();
#pragma omp parallel num_threads(2)
    if (omp_get_level() > 1 && sum.local().data() == bins.data()) {
#pragma omp critical
      ADD_FAILURE() << "thread " << omp_get_thread_num() << " of an inner region has the target";
    }
  }
  EXPECT_EQ(of[0], bins.data());
  EXPECT_NE(of[1], of[2]);
  EXPECT_TRUE(of[1] != bins.data() && of[2] != bins.data());
  sum.combine();
  EXPECT_EQ(bins, std::vector<long>(1000, 1));
}

TEST(OmpReduction, InPlaceReplacesNothing) {
  std::vector<double> bins(100, 1), others(100);
  omp::reduction sum(omp::in_place, bins);
  sum.local()[5] += 2;
  EXPECT_THROW(sum.combine(combining::assign), argument_error);
  EXPECT_THROW(sum.combine(omp::nowait, combining::assign), argument_error);
  EXPECT_THROW(sum.combine_into(others), argument_error);
  sum.combine();
  EXPECT_EQ(bins[5], 3);
  EXPECT_EQ(others, std::vector<double>(100));
  bins.resize(50);
#pragma omp parallel num_threads(1)
  EXPECT_THROW(sum.local(), argument_error);
  sum.fit();
#pragma omp parallel num_threads(1)
  sum.local()[49] += 1;
  EXPECT_EQ(bins[49], 2);
  auto tag = omp::in_place;
  EXPECT_EQ((omp::reduction(tag, bins).describe()), (omp::reduction(omp::in_place, bins).describe()));
}

}  // namespace
}  // namespace coset::reducer_test
