// SPDX-License-Identifier: Apache-2.0
// Calls whose plan follows from what earlier ones took: ranks agree, bits stay, failures leave nothing behind.
#include <cstring>
#include <random>
#include <thread>

#include "support/verbs.hpp"
#include "team/team_state.hpp"
#include "variable.hpp"

namespace coset::team_test {
namespace {

std::shared_ptr<detail::bound_plan const> plan_of(member& me, verb what, std::size_t count, bool in_place = false) {
  float one = 0, other = 0;
  detail::call const c{
      .what = what,
      .in = &one,
      .out = in_place ? &one : &other,
      .count = count,
      .reduction = detail::only_moves(what) ? &detail::copy_of<float>() : &detail::table_of<float, plus>()};
  return me.state().team.plans.of_call(c);
}

/// The same for every rank, and nothing that sums exactly.
std::vector<float> some_values(std::size_t count, rank_t rank) {
  std::mt19937 choices(rank + 1);
  std::vector<float> values(count);
  for (float& v : values) v = std::ldexp(static_cast<float>(choices()), static_cast<int>(choices() % 60) - 60);
  return values;
}

TEST(Learning, IsForLongCallsOfVerbsThatLeaveAChoice) {
  test::variable const flipping("COSET_ADAPT", "flip");
  team ranks(options_for(2));
  ranks.run([&](member& me) {
    for (verb const what : {verb::allreduce, verb::reduce_scatter}) {
      EXPECT_EQ(plan_of(me, what, 100)->candidacy.lessons, nullptr);
      ASSERT_NE(plan_of(me, what, 10'000)->candidacy.lessons, nullptr) << name_of(what);
      EXPECT_GE(plan_of(me, what, 10'000)->candidacy.lessons->others.size(), 1u);
    }
    EXPECT_EQ(plan_of(me, verb::reduce_shared, 10'000)->candidacy.lessons, nullptr);
    for (verb const what : {verb::reduce, verb::scan, verb::broadcast, verb::gather, verb::scatter}) {
      auto const plan = plan_of(me, what, 10'000);
      ASSERT_NE(plan->candidacy.lessons, nullptr) << name_of(what);
      EXPECT_EQ(plan->candidacy.lessons->leader.has_value(), !plan->code->all_meet) << name_of(what);
    }
  });
}

TEST(Learning, IsNotWhereNobodyWantsIt) {
  test::variable const off("COSET_ADAPT", "off");
  team ranks(options_for(2));
  ranks.run([&](member& me) { EXPECT_EQ(plan_of(me, verb::allreduce, 10'000)->candidacy.lessons, nullptr); });
}

TEST(Learning, LeavesRulesAndNamedPlansAlone) {
  test::variable const flipping("COSET_ADAPT", "flip");
  test::variable const rule("COSET_ALLREDUCE", "direct/staged");
  team ranks(options_for(2));
  ranks.run([&](member& me) {
    EXPECT_EQ(plan_of(me, verb::allreduce, 10'000)->candidacy.lessons, nullptr);
    EXPECT_NE(plan_of(me, verb::reduce_scatter, 10'000)->candidacy.lessons, nullptr);
    auto const named = detail::make_plans(me.state().team, verb::reduce_scatter, 10'000,
                                          detail::table_of<float, plus>(), {.storage = "staged"});
    EXPECT_EQ(named.apart->candidacy.lessons, nullptr);
  });
}

TEST(Learning, IsOfTheClassSoThatLengthsTeachEachOther) {
  test::variable const flipping("COSET_ADAPT", "flip");
  team ranks(options_for(2));
  ranks.run([&](member& me) {
    auto const plan = plan_of(me, verb::allreduce, 10'001), alike = plan_of(me, verb::allreduce, 10'200),
               longer = plan_of(me, verb::allreduce, 10'241);
    EXPECT_NE(plan, alike);
    EXPECT_EQ(plan->candidacy.lessons->of, alike->candidacy.lessons->of);
    EXPECT_NE(plan->candidacy.lessons->of, longer->candidacy.lessons->of);
  });
}

/// As where two shared libraries have a table each: ranks may call by either, in any turn.
TEST(Learning, IsOfTheSignatureWhicheverTableACallBrings) {
  test::variable const flipping("COSET_ADAPT", "flip");
  auto const another = detail::table_of<float, plus>();
  team ranks(options_for(2));
  std::vector<float> first;
  ranks.run([&](member& me) {
    auto const mine = some_values(5000, me.rank());
    std::vector<float> sums(mine.size());
    plus const operation;
    for (unsigned k = 0; k < 40; ++k) {
      bool const takes_another = k % 8 < 4 ? me.rank() == 0 : k % 8 == 5;
      detail::run(me.state(), {.what = verb::allreduce,
                               .in = mine.data(),
                               .out = sums.data(),
                               .count = mine.size(),
                               .reduction = takes_another ? &another : &detail::table_of<float, plus>(),
                               .operation = &operation});
      if (me.rank() == 0 && k == 0) first = sums;
      barrier(me);
      ASSERT_EQ(sums, first) << "call " << k;
    }
  });
}

/// Red if one candidate brackets otherwise, or if a call meets what another candidate has left.
TEST(Learning, EveryCandidateGivesTheSameBits) {
  test::variable const flipping("COSET_ADAPT", "flip");
  for (rank_t const p : {2u, 3u, 5u}) {
    team ranks(options_for(p));
    ranks.run([&](member& me) {
      for (std::size_t const count : {1500u, 20'000u, 300'000u}) {
        auto const mine = some_values(count, me.rank());
        std::vector<float> first, sums(count);
        for (int k = 0; k < 12; ++k) {
          allreduce(me, mine, sums);
          if (k == 0) first = sums;
          ASSERT_EQ(std::memcmp(first.data(), sums.data(), count * sizeof(float)), 0) << "call " << k;
          sums = mine;
          allreduce(me, sums);
          ASSERT_EQ(std::memcmp(first.data(), sums.data(), count * sizeof(float)), 0) << "in place, call " << k;
        }
      }
    });
  }
}

/// Ranks are late in turns, and other shapes and started calls of the same one come between.
TEST(Learning, EndsWithOneCandidateOnAllRanks) {
  test::variable const on("COSET_ADAPT", "on");
  team ranks(options_for(2));
  if (ranks.state().shared.kind.crowded) GTEST_SKIP() << "needs two processors";
  std::array<unsigned, 2> best{};
  for (int run = 0; run < 3; ++run) {
    ranks.run([&](member& me) {
      std::vector<int> x(5000), y(8000), z(8000);
      std::mt19937 choices(me.rank());
      for (int k = 0; k < 100; ++k) {
        for (unsigned late = choices() % 1000; late > 0; --late) std::atomic_signal_fence(std::memory_order_seq_cst);
        std::ranges::fill(x, 1);
        request under_way = start_allreduce(me, y);
        if (k % 2 == 0) under_way.wait();
        allreduce(me, x);
        ASSERT_EQ(x[4999], 2);
        allreduce(me, z, maximum{});
        under_way.wait();
      }
      detail::call const c{.what = verb::allreduce,
                           .in = x.data(),
                           .out = x.data(),
                           .count = x.size(),
                           .reduction = &detail::table_of<int, plus>()};
      best[me.rank()] = me.state().team.plans.of_call(c)->candidacy.lessons->of->of_rank.at(me.rank()).learner.best();
    });
    EXPECT_EQ(best[0], best[1]);
  }
}

/// Throws if it is told to, and not before the peer has completed the call.
struct sum_or_throw {
  std::atomic<bool> const* peer_is_done = nullptr;
  int operator()(int a, int b) const {
    if (peer_is_done == nullptr) return a + b;
    while (!*peer_is_done) std::this_thread::yield();
    throw std::runtime_error("after the peer");
  }
};

/// Ranks 0 and 1 make three calls, by staging, by zero_copy, and by staging again. Staged, as the third one is, rank 0 needs nothing of rank 1 but its copy: it has learned from a call that rank 1 does not complete.
void learn_apart(member& me, std::atomic<bool>& is_done) {
  std::vector<int> const in(10'000, 1);
  std::vector<int> out(5000);
  for (int k = 0; k < 2; ++k) reduce_scatter(me, in, out, sum_or_throw());
  reduce_scatter(me, in, out, sum_or_throw{me.rank() == 1 ? &is_done : nullptr});
  is_done = true;
}

/// An even number of calls, so that the next one is of the first candidate again.
void expect_to_agree(member& me) {
  std::vector<int> const in(10'000, 1);
  for (int call = 0; call < 6; ++call) {
    std::vector<int> out(5000);
    reduce_scatter(me, in, out, sum_or_throw());
    ASSERT_EQ(std::ranges::count(out, 2), 5000);
  }
}

/// Red if ranks go on with what they know.
TEST(Learning, BeginsAnewAfterAFailure) {
  test::variable const flipping("COSET_ADAPT", "flip");
  team ranks(options_for(2));
  for (int k = 0; k < 5; ++k) {
    std::atomic<bool> is_done = false;
    EXPECT_THROW(ranks.run([&](member& me) { learn_apart(me, is_done); }), std::runtime_error);
    EXPECT_TRUE(is_done);
    ranks.run([](member& me) { expect_to_agree(me); });
  }
}

/// Threads that were there before the team: a run of theirs ends at a reset.
TEST(Learning, BeginsAnewAfterAReset) {
  test::variable const flipping("COSET_ADAPT", "flip");
  auto const ranks = team::adopt(2);
  std::array<std::atomic<bool>, 5> is_done{};
  auto const live = [&](rank_t rank) {
    auto const late = team::clock::now() + std::chrono::minutes(5);
    member_guard me = ranks->join(rank, late);
    for (auto& done : is_done) {
      (void)outcome_of([&] {
        learn_apart(*me, done);
        barrier(*me);
      });
      me->reset(late);
      expect_to_agree(*me);
    }
  };
  std::thread other([&] { live(1); });
  live(0);
  other.join();
}

/// What rank `r` has after a call of these verbs, and what comes of them. Every value says of which call and rank it is.
struct rooted_calls {
  std::size_t count = 3000;  ///< of each rank
  int calls = 0;

  float value(rank_t of, std::size_t at) const {
    return static_cast<float>(calls * 64 + of) + static_cast<float>(at % 7);
  }
  void make(member& me, rank_t root) {
    ++calls;
    rank_t const ranks = me.size();
    std::vector<float> whole(count * ranks), own(count), got(count * ranks);
    for (std::size_t at = 0; at < whole.size(); ++at) whole[at] = value(root, at);
    for (std::size_t at = 0; at < count; ++at) own[at] = value(me.rank(), at);
    bool const is_root = me.rank() == root;

    auto spread = is_root ? whole : got, started = spread;
    auto under_way = start_broadcast(me, started, root);
    broadcast(me, spread, root);
    EXPECT_EQ(spread, whole);
    under_way.wait();
    EXPECT_EQ(started, whole);
    std::vector<float> piece(count);
    scatter(me, is_root ? std::span<float const>(whole) : std::span<float const>(), std::span(piece), root);
    for (std::size_t at = 0; at < count; ++at) ASSERT_EQ(piece[at], value(root, me.rank() * count + at));
    gather(me, std::span<float const>(own), is_root ? std::span(got) : std::span<float>(), root);
    for (std::size_t at = 0; is_root && at < got.size(); ++at)
      ASSERT_EQ(got[at], value(static_cast<rank_t>(at / count), at % count));
  }
};

/// Red if ranks do not agree on the candidates that the root takes in turn.
TEST(Learning, OfOneRankIsFollowedByAll) {
  test::variable const flipping("COSET_ADAPT", "flip");
  for (rank_t const ranks : {2u, 3u, 5u}) {
    team all(options_for(ranks));
    std::vector<rooted_calls> calls(ranks);
    for (int run = 0; run < 3; ++run)
      all.run([&](member& me) {
        for (int call = 0; call < test::by_effort(9, 30, 200); ++call)
          calls[me.rank()].make(me, call % 2 == 0 ? 0 : ranks - 1);
      });
    all.run([&](member& me) {
      auto const plan = plan_of(me, verb::broadcast, ranks * std::size_t{3000});
      ASSERT_NE(plan->candidacy.lessons, nullptr);
      auto const& of_rank = plan->candidacy.lessons->of->of_rank;
      EXPECT_GT(of_rank[0].calls, 9u);
      EXPECT_EQ(of_rank[me.rank()].calls, of_rank[0].calls);
      EXPECT_EQ(of_rank[me.rank()].next, of_rank[0].next);
    });
  }
}

/// Whose ranks are numbered backwards.
TEST(Learning, OfOneRankIsFollowedInSplitTeams) {
  test::variable const flipping("COSET_ADAPT", "flip");
  team all(options_for(3));
  std::vector<rooted_calls> calls(3);
  all.run([&](member& me) {
    member turned = me.split(0, -static_cast<int>(me.rank()));
    for (int call = 0; call < 9; ++call) {
      calls[me.rank()].make(turned, 1);
      calls[me.rank()].make(me, 0);
    }
  });
}

/// One storage has several, another none, so that calls are of different numbers of operations.
TEST(Learning, OfOneRankIsFollowedBySegments) {
  test::variable const flipping("COSET_ADAPT", "flip");
  team both(options_for(2));
  std::vector<rooted_calls> calls(2, rooted_calls{.count = 600'000});
  both.run([&](member& me) {
    for (int call = 0; call < 7; ++call) calls[me.rank()].make(me, 1);
  });
}

/// The last rank ends a run in which others have made a call more.
TEST(Learning, OfOneRankBeginsAnewAfterAFailure) {
  test::variable const flipping("COSET_ADAPT", "flip");
  team all(options_for(3));
  std::vector<rooted_calls> calls(3);
  for (int run = 0; run < 6; ++run) {
    EXPECT_THROW(all.run([&](member& me) {
      for (int call = 0; call < run; ++call) calls[me.rank()].make(me, 0);
      if (me.rank() == 2) throw std::runtime_error("had enough");
      calls[me.rank()].make(me, 0);
    }),
                 std::runtime_error);
    for (rooted_calls& each : calls) each.calls = 100 * run;
    all.run([&](member& me) {
      for (int call = 0; call < 7; ++call) calls[me.rank()].make(me, 0);
    });
  }
}

/// Each in its own plan store; what is learned in a split team goes with it.
TEST(Learning, GoesOnInSplitTeamsAndBetweenRuns) {
  test::variable const flipping("COSET_ADAPT", "flip");
  team ranks(options_for(4));
  for (int run = 0; run < test::by_effort(5, 20, 100); ++run) {
    ranks.run([&](member& me) {
      member half = me.split(static_cast<int>(me.rank() % 2));
      std::vector<int> x(5000), y(5000);
      for (int k = 0; k < 7; ++k) {
        std::ranges::fill(x, 1);
        std::ranges::fill(y, 1);
        allreduce(half, x);
        allreduce(me, y);
        ASSERT_EQ(x[4000] * 2, y[4000]);
      }
    });
  }
}

}  // namespace
}  // namespace coset::team_test
