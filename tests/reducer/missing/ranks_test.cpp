// SPDX-License-Identifier: Apache-2.0
// Combinations to which some ranks of a team do not come.
#include "coset/reducers/joint_reducer.hpp"
#include "reducer/updates.hpp"
#include "support/teams.hpp"
#include "team/team_state.hpp"

namespace coset::reducer_test {
namespace {

using team_test::outcome;

/// A combination by ranks is a collective, whose long waits are told and ended as others are.
TEST(RanksMissing, FromACombinationAreNamedAndTheWaitEnds) {
  for (std::size_t const n : {10u, 100'000u}) {
    team ranks(team_test::options_for(3));
    auto& state = ranks.state();
    state.shared.patience.limits = {std::chrono::milliseconds(0), std::chrono::milliseconds(20)};
    std::vector<int> got(n);
    reducer<int> sum(n);
    joint_reducer sums(got);
    for (bool const joint : {false, true}) {
      auto const all = team_test::outcomes(ranks, [&](member& me) {
        if (me.rank() == 2)
          while (!state.shared.failed()) std::this_thread::yield();
        joint ? sums.combine(me) : sum.combine_into(got, me);
      });
      team_test::expect_everybody_threw<timed_out>(all, {"not come to it: rank 2"});
    }
  }
}

/// At once, as it will never come.
TEST(RanksMissing, FromACombinationBecauseTheyHaveLeftOrCombineAnotherAreAnError) {
  team ranks(team_test::options_for(2));
  std::vector<int> got(10), others(10);
  reducer<int> sum(10), other(10);
  auto const left = team_test::outcomes(ranks, [&](member& me) {
    if (me.rank() == 0) sum.combine_into(got, me);
  });
  EXPECT_EQ(left[0].type, team_test::type_name<mismatch_error>()) << left[0].message;
  auto const elsewhere = team_test::outcomes(
      ranks, [&](member& me) { me.rank() == 0 ? sum.combine_into(got, me) : other.combine_into(others, me); });
  team_test::expect_everybody_threw<mismatch_error>(elsewhere);
}

}  // namespace
}  // namespace coset::reducer_test
