// SPDX-License-Identifier: Apache-2.0
// Whoever leaves a team that has failed waits until no peer touches its arrays: they may be gone the next moment.
#include <latch>
#include <thread>

#include "coset/detail/task_run.hpp"
#include "runtime/failure/argument_check.hpp"
#include "runtime/memory/busy_mark.hpp"
#include "support/teams.hpp"
#include "team/team_state.hpp"

namespace coset::team_test {
namespace {

using body = std::function<void(member&)>;

/// Rank 1 is amid a fold in rank 0's arrays when that one leaves. It goes on until it would surely have been left behind
/// by one that does not wait.
class busy_peer {
 public:
  /// What rank 0 does is `leave`; whether it waited, where it finds that out itself.
  void inside(member& me, body const& leave) {
    if (me.rank() == 1) return be_busy(me);
    is_busy_.wait();
    EXPECT_NE(outcome_of([&] { leave(me); }).type, "");
    EXPECT_TRUE(has_let_go_) << "left while a peer was in its arrays";
  }
  /// The same where rank 0 leaves the body with its exception.
  void outside(member& me) {
    if (me.rank() == 1) return be_busy(me);
    is_busy_.wait();
    throw std::runtime_error("rank 0 leaves");
  }

 private:
  void be_busy(member& me) {
    auto const& shared = me.state().shared;
    runtime::busy_mark const busy(me.state().lines.own);
    is_busy_.count_down();
    while (!shared.failed()) std::this_thread::yield();
    for (int k = 0; k < 1000; ++k) std::this_thread::yield();
    EXPECT_NE(shared.left(0), shared.round()) << "left while a peer was in its arrays";
    has_let_go_ = true;
  }

  std::latch is_busy_{1};
  std::atomic<bool> has_let_go_ = false;
};

void expect_to_wait(body const& leave) {
  team ranks(options_for(2));
  busy_peer peer;
  ranks.run([&](member& me) { peer.inside(me, leave); });
  expect_works(ranks);
}

TEST(Leaving, ByARefusalWaits) {
  expect_to_wait([](member& me) { detail::refuse(me.state(), "for no reason"); });
}

TEST(Leaving, ByAFailureThatIsKnownWaits) {
  expect_to_wait([](member& me) {
    me.state().shared.fail(runtime::cause::aborted, "for no reason");
    barrier(me);
  });
}

TEST(Leaving, ByAnOperationThatThrowsWaits) {
  for (bool const is_exception : {true, false}) {
    expect_to_wait([&](member& me) {
      try {
        if (is_exception) throw std::runtime_error("of an operation");
        throw 7;
      } catch (...) {
        runtime::fail_by_exception(me.state(), "");
        throw;
      }
    });
  }
}

TEST(Leaving, ByARequestThatIsGivenUpWaits) {
  expect_to_wait([](member& me) {
    std::vector<int> x(10);
    (void)start_allreduce(me, x);
    barrier(me);
  });
}

TEST(Leaving, ByAResetInVainWaits) {
  expect_to_wait([](member& me) { me.reset(member::clock::now()); });
}

TEST(Leaving, OfABodyByAnExceptionWaits) {
  team ranks(options_for(2));
  busy_peer peer;
  EXPECT_THROW(ranks.run([&](member& me) { peer.outside(me); }), std::runtime_error);
  expect_works(ranks);
}

TEST(Leaving, OfAnAdoptedTeamByAnExceptionWaits) {
  auto const ranks = team::adopt(2);
  busy_peer peer;
  auto const be = [&](rank_t rank) {
    (void)outcome_of([&] {
      member_guard me = ranks->join(rank, team::clock::time_point::max());
      peer.outside(me);
    });
  };
  std::thread other([&] { be(1); });
  be(0);
  other.join();
}

TEST(Leaving, OfATaskByAnExceptionWaits) {
  auto const ranks = detail::make_task_team(2);
  busy_peer peer;
  detail::task_run run(*ranks);
  auto const be = [&](rank_t rank) {
    run.start(
        rank, [](void* context, member& me) { static_cast<busy_peer*>(context)->outside(me); }, &peer);
  };
  std::thread other([&] { be(1); });
  be(0);
  other.join();
  EXPECT_THROW(run.end(), std::runtime_error);
}

/// Not all ranks wait here, so that nobody finds them waiting for one another.
TEST(Left, IsNoticedWhileAnotherRankComputes) {
  team ranks(options_for(3));
  std::atomic<bool> noticed = false;
  outcome seen;
  ranks.run([&](member& me) {
    member pair = me.split(me.rank() == 2 ? 1 : 0);
    if (me.rank() == 1) return;
    while (me.rank() == 2 && !noticed) std::this_thread::yield();
    if (me.rank() == 0) seen = outcome_of([&] { barrier(pair); });
    noticed = true;
  });
  EXPECT_EQ(seen.type, type_name<mismatch_error>()) << seen.message;
  expect_works(ranks);
}

}  // namespace
}  // namespace coset::team_test
