// SPDX-License-Identifier: Apache-2.0
// What a team keeps from one run to the next, what it lets go of, and what it says.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <optional>
#include <thread>

#include "coset/detail/line_spacing.hpp"
#include "coset/detail/task_run.hpp"
#include "numa/binding.hpp"
#include "support/teams.hpp"
#include "team/team_state.hpp"
#include "team/threads/workers.hpp"
#include "threads_here.hpp"
#include "variable.hpp"

namespace coset::team_test {
namespace {

using test::threads_become;
using test::threads_of_this_process;
using test::variable;

/// Whatever else still holds what its ranks had in common.
TEST(ATeamsThreads, EndWithIt) {
  std::optional<team> ranks(std::in_place, options_for(3));
  std::shared_ptr<detail::team_state> const kept = ranks->state().shared_from_this();
  auto const threads = threads_of_this_process();
  ranks.reset();
  EXPECT_TRUE(threads_become(threads - 2)) << threads_of_this_process() << " of " << threads;
}

TEST(Crowds, AreMoreRanksThanProcessors) {
  rank_t const processors = numa::usable_processors();
  for (placement const place : {placement::compact, placement::unbound}) {
    team enough({.ranks = processors, .place = place}), many({.ranks = processors + 1, .place = place});
    EXPECT_FALSE(enough.state().shared.kind.crowded);
    EXPECT_TRUE(many.state().shared.kind.crowded);
    EXPECT_FALSE(team::adopt(processors)->state().shared.kind.crowded);
  }
  EXPECT_TRUE(detail::make_task_team(1)->state().shared.kind.crowded);
}

TEST(AReservation, IsKeptByTheNextRun) {
  team ranks(options_for(2));
  constexpr std::size_t bytes = 3 << 20;
  ranks.reserve(bytes);
  ranks.reserve(10);
  ranks.run([&](member& me) { EXPECT_GE(me.state().ends[0].capacity, bytes); });
}

/// One that is more than there is: a run that cannot begin.
constexpr std::size_t far_too_much = SIZE_MAX / 2;

TEST(ARun, ThatCannotBeginLeavesTheTeamAsItWas) {
  team ranks(options_for(2));
  for (int k = 0; k < 2; ++k) {
    ranks.state().reserved_bytes = far_too_much;
    EXPECT_THROW(ranks.run([](member&) { ADD_FAILURE() << "has begun"; }), std::bad_alloc);
    ranks.state().reserved_bytes = 0;
    expect_works(ranks);
  }
}

TEST(ARun, OfTasksThatCannotBeginLeavesTheTeamAsItWas) {
  auto const ranks = detail::make_task_team(2);
  for (int k = 0; k < 2; ++k) {
    ranks->state().reserved_bytes = far_too_much;
    EXPECT_THROW(detail::task_run run(*ranks), std::bad_alloc);
    ranks->state().reserved_bytes = 0;
    EXPECT_NO_THROW(detail::task_run run(*ranks));
  }
}

TEST(ARun, OfTasksThatHasEndedDoesNotEndTheNext) {
  auto const ranks = detail::make_task_team(1);
  std::optional<detail::task_run> first(std::in_place, *ranks);
  first->end();
  detail::task_run second(*ranks);
  first.reset();
  EXPECT_THROW(detail::task_run third(*ranks), argument_error);
}

/// It may hold what its thrower wants back.
TEST(AnException, IsNotKeptByTheNextRun) {
  struct holding {
    std::shared_ptr<int> what;
  };
  team ranks(options_for(2));
  std::weak_ptr<int> held;
  {
    auto const what = std::make_shared<int>(7);
    held = what;
    EXPECT_THROW(ranks.run([&](member& me) {
      if (me.rank() == 1) throw holding{what};
    }),
                 holding);
  }
  ranks.run([](member&) {});
  EXPECT_TRUE(held.expired());
}

/// The caller may hold the request, not what it was started on.
TEST(ARequest, LeftBehindByABodyAbortsTheTeam) {
  team ranks(options_for(2));
  std::vector<int> x(10);
  request kept;
  ranks.run([&](member& me) {
    if (me.rank() == 1) kept = start_allreduce(me, x);
  });
  ASSERT_TRUE(ranks.state().shared.failed());
  EXPECT_THAT(ranks.state().shared.failure.first().second, ::testing::HasSubstr("rank 1 gave up an operation"));
  expect_works(ranks);
}

TEST(ARequest, LeftBehindByAThreadAbortsTheTeamThatItJoined) {
  auto const ranks = team::adopt(1);
  std::vector<int> x(10);
  request kept;
  {
    member_guard me = ranks->join(0);
    kept = start_allreduce(me, x);
    // One rank has nobody to wait for.
    EXPECT_TRUE(kept.test());
  }
  EXPECT_FALSE(ranks->state().shared.failed());
  auto const two = team::adopt(2);
  std::thread other([&] { member_guard const me = two->join(1); });
  {
    member_guard me = two->join(0);
    kept = start_allreduce(me, x);
  }
  other.join();
  EXPECT_TRUE(two->state().shared.failed());
  EXPECT_THAT(two->state().shared.failure.first().second, ::testing::HasSubstr("rank 0 gave up an operation"));
}

TEST(AView, StaysWhereItHasGrownTo) {
  team ranks(options_for(2));
  std::vector<double> const longer(100'000, 1), shorter(5'000, 1);
  std::array<double const*, 2> before{}, after{};
  ranks.run([&](member& me) {
    (void)allreduce_view(me, shorter);
    before[me.rank()] = allreduce_view(me, longer).data();
  });
  ranks.run([&](member& me) { after[me.rank()] = allreduce_view(me, shorter).data(); });
  EXPECT_EQ(before, after);
}

TEST(AMember, OfASplitTeamCanBeMoved) {
  team ranks(options_for(3));
  ranks.run([](member& me) {
    member of_all = me.split(0, -static_cast<int>(me.rank()));
    std::optional<member> other = me.split(static_cast<int>(me.rank() % 2));
    auto const* const kept = &other->state();
    of_all = std::move(*other);
    other.reset();
    EXPECT_EQ(&of_all.state(), kept);
    EXPECT_EQ(of_all.size(), me.rank() == 1 ? 1u : 2u);
    EXPECT_EQ(allreduce(of_all, 1), static_cast<int>(of_all.size()));
    member& itself = of_all;
    of_all = std::move(itself);
    EXPECT_EQ(&of_all.state(), kept);
    EXPECT_EQ(allreduce(of_all, 1), static_cast<int>(of_all.size()));
    // The first one's place is free again.
    EXPECT_EQ(allreduce(me, 1), 3);
    EXPECT_EQ(me.state().requests.family.size(), 2u);
  });
}

std::string said_by(std::function<void()> const& what) {
  ::testing::internal::CaptureStderr();
  what();
  return ::testing::internal::GetCapturedStderr();
}

TEST(TheLog, IsEmptyWhereNobodyAsks) {
  EXPECT_EQ(said_by([] {
              team ranks(options_for(2)), many({.ranks = 2 * numa::usable_processors()});
              expect_works(ranks);
              expect_works(many);
            }),
            "");
}

TEST(TheLog, TellsEachPlanOnce) {
  variable const log("COSET_LOG", "plan");
  auto const said = said_by([] {
    team ranks({.ranks = 3, .place = placement::unbound});
    for (int k = 0; k < 2; ++k) expect_works(ranks);
  });
  EXPECT_THAT(said, ::testing::StartsWith("coset: allreduce of 100 int (coset::plus), in place on 3 ranks: "));
  EXPECT_THAT(said, ::testing::HasSubstr("; expected to take "));
  EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
}

/// Of a plan object, too, even if no rank ever calls it.
TEST(TheLog, TellsOnceWhichRuleWasPassedOver) {
  variable const log("COSET_LOG", "plan"), rule("COSET_ALLREDUCE", "direct(saved_steps=1)/output");
  auto const said = said_by([] {
    team ranks({.ranks = 3, .place = placement::unbound});
    for (int k = 0; k < 2; ++k) (void)make_plan<int>(ranks, 1000);
  });
  EXPECT_THAT(said, ::testing::HasSubstr("coset: COSET_ALLREDUCE, direct(saved_steps=1)/output: "));
  EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
}

TEST(TheLog, TellsThatRanksShareProcessors) {
  variable const log("COSET_LOG", "plan");
  rank_t const processors = numa::usable_processors();
  auto const by_team_of = [](rank_t ranks, placement place) {
    return said_by([&] { team const all({.ranks = ranks, .place = place}); });
  };
  EXPECT_EQ(by_team_of(processors, placement::compact), "");
  EXPECT_EQ(by_team_of(2 * processors, placement::unbound), "");
  EXPECT_EQ(
      by_team_of(2 * processors, placement::compact),
      "coset: " + std::to_string(2 * processors) + " ranks share " + std::to_string(processors) + " processors\n");
}

TEST(TheLog, TellsThatCacheLinesAreLongerThanTheSpacing) {
  variable const log("COSET_LOG", "plan");
  auto machine = topology::machine();
  auto const by_team_on = [&](std::size_t line_bytes) {
    machine.line_bytes = static_cast<unsigned>(line_bytes);
    return said_by([&] { team const one(machine, {.ranks = 1}); });
  };
  EXPECT_EQ(by_team_on(detail::line_spacing), "");
  EXPECT_THAT(by_team_on(2 * detail::line_spacing),
              ::testing::StartsWith("coset: cache lines of " + std::to_string(2 * detail::line_spacing) + " bytes"));
}

/// A run whose rank 0 leaves while rank 1 is in its body.
struct run_to_leave {
  std::atomic<bool> begun = false, leaves = false, goes_on = false;
  std::atomic<int> ended = 0;

  bool run(team& ranks) {
    return ranks.state().membership.workers->run_or_leave(
        [](void* of, member& me) { static_cast<run_to_leave*>(of)->body(me); }, this,
        [](void* of) noexcept { return static_cast<run_to_leave*>(of)->leaves.load(); });
  }
  void body(member& me) {
    if (me.rank() == 1) {
      begun = true;
      while (!goes_on) std::this_thread::yield();
    } else if (me.rank() == 0) {
      while (!begun) std::this_thread::yield();
    }
    ++ended;
  }
};

TEST(ARunThatIsLeft, KeepsTheTeamUntilAllBodiesHaveEnded) {
  team ranks(options_for(3));
  team_room::workers& threads = *ranks.state().membership.workers;
  run_to_leave left;
  left.leaves = true;
  ASSERT_FALSE(left.run(ranks));
  EXPECT_FALSE(threads.have_ended());
  EXPECT_FALSE(threads.can_stop());
  auto const run_anew = [&] { ranks.run([](member&) { ADD_FAILURE() << "a body runs beside another"; }); };
  while (left.ended < 2) std::this_thread::yield();
  try {
    run_anew();
    FAIL() << "nothing was thrown";
  } catch (argument_error const& e) {
    EXPECT_THAT(e.what(), ::testing::HasSubstr("after one that was interrupted, whose body of rank"));
  }
  left.goes_on = true;
  while (!threads.have_ended()) std::this_thread::yield();
  EXPECT_EQ(left.ended, 3);
  EXPECT_TRUE(threads.can_stop());
  for (int again = 0; again < 2; ++again) ranks.run([](member& me) { EXPECT_EQ(allreduce(me, 1), 3); });
}

TEST(ARunThatIsLeft, EndsAsOthersDoWhereNobodyLeaves) {
  team ranks(options_for(2));
  run_to_leave stayed;
  stayed.goes_on = true;
  EXPECT_TRUE(stayed.run(ranks));
  EXPECT_EQ(stayed.ended, 2);
  stayed.leaves = true;  // and would leave, were there anybody to wait for
  EXPECT_TRUE(
      team(options_for(1))
          .state()
          .membership.workers->run_or_leave([](void*, member&) {}, &stayed, [](void*) noexcept { return true; }));
}

TEST(ARunThatIsLeft, MayOutliveItsTeam) {
  static run_to_leave left;
  left.leaves = true;
  {
    team ranks(options_for(2));
    ASSERT_FALSE(left.run(ranks));
  }
  left.goes_on = true;
  while (left.ended < 2) std::this_thread::yield();
}

}  // namespace
}  // namespace coset::team_test
