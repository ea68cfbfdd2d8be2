// SPDX-License-Identifier: Apache-2.0
// When a team stands still, played by one thread that says which rank looks in vain, and which one goes on.
#include "runtime/failure/long_waits.hpp"

#include "coset/detail/task_run.hpp"
#include "runtime/executor.hpp"
#include "support/teams.hpp"
#include "team/team_state.hpp"

namespace coset::team_test {
namespace {

class Standstill : public ::testing::Test {
 protected:
  Standstill()
      : plans_(detail::make_plans(ranks_->state(), verb::barrier, 0, detail::copy_of<char>(), {})), run_(*ranks_) {
    for (rank_t r = 0; r < ranks_->size(); ++r) {
      runtime::prepare(flights_.emplace_back(), rank(r), 0, *plans_.apart, nullptr, nullptr, nullptr);
      flights_.back().act = {};
    }
  }

  detail::rank_state& rank(rank_t r) { return *ranks_->state().members[r]; }
  void look_in_vain(rank_t r, int times = 2) {
    for (int k = 0; k < times; ++k) runtime::note_waiting(rank(r), flights_[r]);
  }
  void go_on(rank_t r) { runtime::note_moving(rank(r)); }
  void leave(rank_t r) { rank(r).shared.left(r) = rank(r).shared.round(); }

  /// What is thrown once the ranks have looked in vain often enough, in turn; empty if nothing is.
  std::string outcome_of_waiting(std::vector<rank_t> const& waiting) {
    return outcome_of([&] {
             for (int k = 0; k < 20; ++k)
               for (rank_t const r : waiting) look_in_vain(r, 1);
           })
        .message;
  }

 private:
  std::unique_ptr<team> ranks_ = detail::make_task_team(3);
  detail::plan_pair plans_;
  detail::task_run run_;
  std::vector<runtime::flight> flights_;
};

TEST_F(Standstill, IsToldWithWhatEachRankDoes) {
  leave(2);
  std::string const text = outcome_of_waiting({0, 1});
  EXPECT_EQ(text, "all ranks wait for one another: rank 0 calls barrier, rank 1 calls barrier, rank 2 has left");
  EXPECT_TRUE(rank(0).shared.failed());
}

TEST_F(Standstill, IsNoneWhileSomebodyDoesNotWait) { EXPECT_EQ(outcome_of_waiting({0, 1}), ""); }

/// All of them wait each time that somebody looks, but not all the time.
TEST_F(Standstill, IsNoneWhereSomebodyGoesOnInBetween) {
  leave(2);
  for (rank_t const mover : {0u, 1u}) {
    EXPECT_EQ(outcome_of([&] {
                for (int k = 0; k < 20; ++k) {
                  look_in_vain(mover);
                  look_in_vain(1 - mover);
                  go_on(mover);
                }
              }).message,
              "");
  }
  EXPECT_NE(outcome_of_waiting({0, 1}), "");
}

TEST_F(Standstill, IsSeenByLooksAfterTheQuestionOnly) {
  leave(2);
  // Both have looked once, before anybody had asked anything.
  look_in_vain(0, 1);
  look_in_vain(1, 1);
  EXPECT_EQ(rank(0).lines.own.standing, 0u);
  look_in_vain(0, 1);
  EXPECT_NE(rank(0).lines.own.standing, 0u);
  go_on(0);
  EXPECT_EQ(rank(0).lines.own.standing, 0u);
  EXPECT_EQ(rank(0).lines.own.moves, 1u);
}

}  // namespace
}  // namespace coset::team_test
