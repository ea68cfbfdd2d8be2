// SPDX-License-Identifier: Apache-2.0
// What a team keeps is bounded: plans go with the last object of their kind, and memory grows with the ranks as the README
// of the room says.
#include <latch>

#include "runtime/rank_state.hpp"
#include "support/counted_new.hpp"
#include "support/teams.hpp"
#include "team/team_state.hpp"

namespace coset::team_test {
namespace {

detail::plan_pair sums(team& ranks, std::size_t count, plan_options const& options = {}) {
  return detail::make_plans(ranks.state(), verb::allreduce, count, detail::table_of<double, plus>(), options);
}

/// Red if the team keeps what nobody has any more: 20,000 plans took 30 MB.
TEST(Bounds, PlansMadeAndFreedLeaveNothing) {
  team ranks(options_for(2));
  expect_works(ranks);
  int const plans = test::by_effort(500, 5000, 20'000);
  auto const make_and_free = [&](std::size_t first) {
    for (int i = 0; i < plans; ++i) (void)make_plan<double>(ranks, first + static_cast<std::size_t>(i));
  };
  make_and_free(100);
  std::size_t const before = test::live_bytes();
  make_and_free(1'000'000);
  EXPECT_LE(test::live_bytes(), before + 64 * 1024);
  EXPECT_LE(ranks.state().plans.size(), 200u);
}

/// What a rank needs its own thread allocates, near its node; the thread that makes the team has to hear of it.
TEST(Bounds, ATeamWhoseRanksGetNoMemoryIsRefused) {
  test::fail_allocations_of_other_threads(true);
  EXPECT_THROW(team(options_for(3)), std::bad_alloc);
  test::fail_allocations_of_other_threads(false);
  team ranks(options_for(3));
  expect_works(ranks);
}

TEST(Bounds, PlansOfOneKindAreOneAndGoWithTheLast) {
  team ranks(options_for(2));
  auto one = sums(ranks, 1000), other = sums(ranks, 1000);
  EXPECT_EQ(one.apart, other.apart);
  EXPECT_NE(one.apart, one.in_place);
  EXPECT_NE(one.apart, sums(ranks, 1000, {.algorithm = "ring"}).apart);
  std::weak_ptr<detail::bound_plan const> const made = one.apart;
  one = {};
  EXPECT_FALSE(made.expired());
  other = {};
  EXPECT_TRUE(made.expired());
}

/// The number that tells them apart in messages and tags is of how they run, not of when they were made.
TEST(Bounds, PlansMadeInAnotherOrderHaveTheSameNumbers) {
  team first(options_for(2)), second(options_for(2));
  auto const ring = sums(first, 10, {.algorithm = "ring"}), direct = sums(first, 10, {.algorithm = "direct"});
  auto const later = sums(second, 10, {.algorithm = "direct"}), again = sums(second, 10, {.algorithm = "ring"});
  EXPECT_EQ(ring.apart->what.plan, again.apart->what.plan);
  EXPECT_EQ(direct.apart->what.plan, later.apart->what.plan);
  EXPECT_NE(ring.apart->what.plan, direct.apart->what.plan);
  EXPECT_NE(ring.apart->what.plan, 0u);
}

TEST(Bounds, ARequestUnderWayKeepsItsPlan) {
  team ranks(options_for(2));
  std::array plans{sums(ranks, 1000), sums(ranks, 1000)};
  std::weak_ptr<detail::bound_plan const> const made = plans[0].apart;
  std::latch first_started(1), both_started(1);
  bool kept = false;
  std::atomic<int> right = 0;
  ranks.run([&](member& me) {
    std::vector<double> const in(1000, 1.0);
    std::vector<double> out(1000);
    plus const op;
    if (me.rank() == 1) first_started.wait();
    request r = detail::start(me.state(), plans[me.rank()], {in.data(), in.size(), out.data(), out.size()}, &op);
    plans[me.rank()] = {};
    if (me.rank() == 0) {
      first_started.count_down();
      both_started.wait();
      kept = !made.expired();  // this rank has not looked since the other came
    } else {
      both_started.count_down();
    }
    r.wait();
    right += std::count(out.begin(), out.end(), 2.0) == 1000;
  });
  EXPECT_TRUE(kept);
  EXPECT_TRUE(made.expired());
  EXPECT_EQ(right, 2);
}

/// Ranks that call alike share what they have bound.
TEST(Bounds, CallsOfAllRanksAreOnePlan) {
  team ranks(options_for(3));
  expect_works(ranks);
  std::vector<detail::bound_plan const*> bound;
  for (auto const& m : ranks.state().members) {
    for (auto const& [key, plan] : m->plans.all) bound.push_back(plan.get());
  }
  ASSERT_EQ(bound.size(), 3u);
  EXPECT_EQ(bound[0], bound[1]);
  EXPECT_EQ(bound[0], bound[2]);
}

/// What a team of so many ranks keeps of operator new, made, and after a small allreduce of each rank.
struct kept {
  std::size_t made, used;
};

kept kept_by(rank_t ranks) {
  std::size_t const before = test::live_bytes();
  team whole({.ranks = ranks, .place = placement::unbound});
  std::size_t const made = test::live_bytes() - before;
  expect_works(whole);
  return {made, test::live_bytes() - before};
}

/// The README of the room: 72 bytes for every pair of ranks and channel in use, the rest grows with the ranks alone.
/// Red if ranks make the tables of all nine channels, or each a bound plan of its own.
TEST(Bounds, MemoryOfATeamFollowsTheLaw) {
  (void)kept_by(2);  // what is made once in a process
  constexpr std::size_t of_a_rank = 4 * 1024, of_a_pair = 80, with_its_plan = 7 * 1024, of_a_pair_at_work = 96;
  for (std::size_t const ranks : {64, 256}) {
    auto const [made, used] = kept_by(static_cast<rank_t>(ranks));
    EXPECT_LE(made, ranks * of_a_rank + ranks * ranks * of_a_pair) << ranks;
    EXPECT_LE(used, ranks * with_its_plan + ranks * ranks * of_a_pair_at_work) << ranks;
  }
}

/// A channel of split phase costs when it is first used, and once. Those of a run are taken in turn, from the first.
TEST(Bounds, ChannelsCostWhenTheyAreUsed) {
  constexpr std::size_t ranks = 64, of_a_channel = 72 * ranks * ranks;
  team whole({.ranks = ranks, .place = placement::unbound});
  auto const kept_after = [&](int requests) {
    whole.run([&](member& me) {
      for (int k = 0; k < requests; ++k) start_barrier(me).wait();
    });
    return test::live_bytes();
  };
  std::size_t const none = kept_after(0), one = kept_after(1), again = kept_after(1), two = kept_after(2);
  EXPECT_GE(one - none, of_a_channel);
  EXPECT_EQ(again, one);
  EXPECT_GE(two - again, of_a_channel);
  EXPECT_LE(two - again, of_a_channel * 5 / 4);
}

}  // namespace
}  // namespace coset::team_test
