// SPDX-License-Identifier: Apache-2.0
// The threads of an OpenMP region as a team.
#include <omp.h>

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

TEST(OpenMP, RegionOfTooFewThreadsGivesUpAtTheDeadline) {
  auto const ranks = team::adopt(3);
  std::vector<outcome> all(2);
#pragma omp parallel num_threads(2)
  {
    auto const r = static_cast<rank_t>(omp_get_thread_num());
    all[r] = outcome_of([&] { auto me = ranks->join(r, team::clock::now() + std::chrono::milliseconds(50)); });
  }
  expect_everybody_threw<timed_out>(all, {"of 3"});
}

}  // namespace
}  // namespace coset::team_test
