// SPDX-License-Identifier: Apache-2.0
// The threads of an OpenMP region as a team.
#include "coset/omp.hpp"

#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>

#include "floating_point.hpp"
#include "support/teams.hpp"

namespace coset::team_test {
namespace {

TEST(OpenMP, RegionReducesThroughATeamAgainAndAgain) {
  rank_t const p = 4;
  auto const ranks = team::adopt(p);
  std::vector<double> sums(p);
  for (int region = 1; region <= 10; ++region) {
#pragma omp parallel num_threads(p)
    {
      auto me = ranks->join(static_cast<rank_t>(omp_get_thread_num()));
      sums[me->rank()] = allreduce(me, double(region) * (me->rank() + 1));
    }
    EXPECT_EQ(sums, std::vector<double>(p, region * 10.0));
  }
}

/// That of the thread that has adopted them, whatever the modes are of the region's.
TEST(OpenMP, ThreadsFoldInTheModeOfTheAdopter) {
  test::mode{FE_UPWARD, false, false}.set();
  auto const ranks = team::adopt(4);
  test::usual_mode.set();
  std::vector<double> sums(4);
#pragma omp parallel num_threads(4)
  {
    test::in_mode const own({omp_get_thread_num() % 2 == 0 ? FE_TONEAREST : FE_DOWNWARD, true, true});
    auto me = ranks->join(static_cast<rank_t>(omp_get_thread_num()));
    double const given[]{1, 0x1p-60, 0, 0};
    sums[me->rank()] = allreduce(me, given[me->rank()]);
  }
  EXPECT_EQ(sums, std::vector<double>(4, 1 + 0x1p-52));
}

/// Red if they wait: they do so for half a minute, for threads that OpenMP has not made.
TEST(OpenMP, RegionOfTooFewThreadsIsRefusedAtOnce) {
  auto const ranks = team::adopt(4);
  for (rank_t const threads : {1u, 2u, 3u}) {
    std::vector<outcome> all(threads);
#pragma omp parallel num_threads(threads)
    {
      auto const r = static_cast<rank_t>(omp_get_thread_num());
      all[r] = outcome_of([&] { auto me = ranks->join(r); });
    }
    expect_everybody_threw<argument_error>(all, {"has " + std::to_string(threads) + " of the 4 threads of the team"});
  }
  std::vector<int> sums(4);
#pragma omp parallel num_threads(4)
  {
    auto me = ranks->join(static_cast<rank_t>(omp_get_thread_num()));
    sums[me->rank()] = allreduce(me, 1);
  }
  EXPECT_EQ(sums, std::vector<int>(4, 4));
}

/// What the innermost region has says nothing then, unless the others have one thread each.
TEST(OpenMP, RegionsInRegionsMayFormOneTeam) {
  omp_set_max_active_levels(2);
  auto const ranks = team::adopt(4);
  std::vector<int> sums(4);
#pragma omp parallel num_threads(2)
  {
    int const outer = omp_get_thread_num();
#pragma omp parallel num_threads(2)
    {
      auto me = ranks->join(static_cast<rank_t>(2 * outer + omp_get_thread_num()));
      sums[me->rank()] = allreduce(me, 1);
    }
  }
  EXPECT_EQ(sums, std::vector<int>(4, 4));
#pragma omp parallel num_threads(1)
#pragma omp parallel num_threads(2)
  EXPECT_THROW((void)ranks->join(0), argument_error);
  omp_set_max_active_levels(1);
}

/// OpenMP's own threads are not in the child either: it ends before the region does.
TEST(OpenMP, AForkedChildIsRefused) {
  std::vector<int> sums(2);
  int status = -1;
#pragma omp parallel num_threads(2)
  {
    omp::member_here me;
    if (omp_get_thread_num() == 0) {
      pid_t const child = fork();
      if (child == 0) {
        alarm(60);
        auto const refused = outcome_of([&] { barrier(me); });
        _exit(refused.message.find("forked child") != std::string::npos ? 3 : 4);
      }
      waitpid(child, &status, 0);
    }
    sums[static_cast<std::size_t>(omp_get_thread_num())] = allreduce(me, 1);
  }
  EXPECT_EQ(status, 3 << 8);
  EXPECT_EQ(sums, std::vector<int>(2, 2));
}

}  // namespace
}  // namespace coset::team_test
