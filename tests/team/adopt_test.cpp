// SPDX-License-Identifier: Apache-2.0
// Teams of threads that the caller brings: joining, leaving, joining again.
#include <atomic>
#include <barrier>
#include <latch>
#include <stdexcept>
#include <thread>

#include "support/teams.hpp"
#include "team/threads/adopted_threads.hpp"

namespace coset::team_test {
namespace {

team::clock::time_point soon() { return team::clock::now() + std::chrono::milliseconds(50); }

/// `body(rank)` on threads of its own; what left each of them.
std::vector<outcome> on_threads(rank_t ranks, std::function<void(rank_t)> const& body) {
  std::vector<outcome> all(ranks);
  std::vector<std::thread> threads;
  for (rank_t r = 0; r < ranks; ++r) threads.emplace_back([&, r] { all[r] = outcome_of([&] { body(r); }); });
  for (std::thread& t : threads) t.join();
  return all;
}

void expect_sum(member& me) {
  std::vector<int> items(1000, static_cast<int>(me.rank()) + 1);
  allreduce(me, items);
  EXPECT_EQ(items, std::vector<int>(1000, static_cast<int>(me.size() * (me.size() + 1) / 2)));
}

void expect_works_joined(team& ranks) {
  for (outcome const& one : on_threads(ranks.size(), [&](rank_t r) {
         auto me = ranks.join(r);
         EXPECT_EQ(me->rank(), r);
         expect_sum(me);
       })) {
    EXPECT_EQ(one.type, "") << one.message;
  }
}

struct Adopted : ::testing::TestWithParam<rank_t> {
  std::unique_ptr<team> ranks = team::adopt(GetParam());
};

TEST_P(Adopted, ThreadsReduceAndMayBeOthersInTheNextRegion) {
  EXPECT_EQ(ranks->size(), GetParam());
  for (int region = 0; region < 5; ++region) expect_works_joined(*ranks);
}

TEST_P(Adopted, ThreadsAreOnTheNodeWhereThereIsOne) {
  if (topology::whole_machine().nodes.size() != 1) return;
  on_threads(ranks->size(), [&](rank_t thread) { EXPECT_EQ(ranks->join(thread)->node(), 0u); });
}

TEST_P(Adopted, ThreadsMayJoinAgainAndAgainAsOtherRanks) {
  rank_t const p = ranks->size();
  on_threads(p, [&](rank_t thread) {
    for (rank_t region = 0; region < 20; ++region) {
      auto me = ranks->join((thread + region) % p);
      expect_sum(me);
    }
  });
}

/// Red if those who have given up are not counted: the last one would find itself alone.
TEST(AdoptedThreads, ThatGiveUpOneAfterTheOtherHaveFoundAllThatCame) {
  auto const ranks = team::adopt(3);
  for (auto patience = std::chrono::milliseconds(50);; patience *= 2) {
    std::atomic<bool> ended = false;
    outcome first;
    std::thread other([&] {
      first = outcome_of([&] { ranks->join(0, team::clock::now() + patience); });
      ended = true;
    });
    while (!ended && !ranks->state().membership.adopted->is_attended()) std::this_thread::yield();
    outcome const second = outcome_of([&] { ranks->join(1, team::clock::now()); });
    other.join();
    if (second.message.find("only 2 of 3") == second.message.npos) continue;  // the other had given up before
    EXPECT_EQ(first.message, "join: rank 0 found only 2 of 3 threads");
    EXPECT_EQ(second.message, "join: rank 1 found only 2 of 3 threads");
    return;
  }
}

/// Red if a rank's place in the next region is free while others are still in this one.
TEST_P(Adopted, ThreadsJoinAgainOnlyWhenAllHaveLeft) {
  rank_t const p = ranks->size();
  if (p == 1) GTEST_SKIP();
  std::latch tried(1);
  on_threads(p, [&](rank_t r) {
    {
      auto me = ranks->join(r);
      if (r != 0) tried.wait();
    }
    if (r != 0) return;
    EXPECT_EQ(outcome_of([&] { ranks->join(0, soon()); }).type, type_name<timed_out>());
    tried.count_down();
  });
  expect_works_joined(*ranks);
}

TEST_P(Adopted, ThreadThatLeavesByAnExceptionAbortsTheOthersAndTheNextRegionWorks) {
  rank_t const p = ranks->size(), who = p - 1;
  auto all = on_threads(p, [&](rank_t r) {
    auto me = ranks->join(r);
    barrier(me);
    if (r == who) throw std::domain_error("told so");
    for (;;) barrier(me);
  });
  EXPECT_EQ(all[who].type, type_name<std::domain_error>());
  all.pop_back();
  expect_everybody_threw<aborted>(all, {"rank " + std::to_string(who) + " ended with an exception"});
  expect_works_joined(*ranks);
}

TEST_P(Adopted, RankThatLeavesEarlyIsAMismatchToTheOthers) {
  rank_t const p = ranks->size();
  auto all = on_threads(p, [&](rank_t r) {
    auto me = ranks->join(r);
    if (r != 0) barrier(me);
  });
  EXPECT_EQ(all[0].type, "");
  all.erase(all.begin());
  expect_everybody_threw<mismatch_error>(all, {"rank 0 has left"});
  expect_works_joined(*ranks);
}

TEST_P(Adopted, RanksThatDisagreeAreTold) {
  if (ranks->size() == 1) return;
  expect_everybody_threw<mismatch_error>(on_threads(ranks->size(),
                                                    [&](rank_t r) {
                                                      auto me = ranks->join(r);
                                                      std::vector<int> items(r == 0 ? 3 : 4);
                                                      allreduce(me, items);
                                                    }),
                                         {"3", "4"});
  expect_works_joined(*ranks);
}

TEST_P(Adopted, ThreadsThatWaitInVainForOthersGiveUpAtTheDeadline) {
  rank_t const p = ranks->size();
  if (p == 1) return;
  auto const all = on_threads(p - 1, [&](rank_t r) { auto me = ranks->join(r, soon()); });
  expect_everybody_threw<timed_out>(all, {"of " + std::to_string(p)});
  expect_works_joined(*ranks);
}

TEST_P(Adopted, RankThatIsTakenCannotBeJoined) {
  rank_t const p = ranks->size();
  for (outcome const& one : on_threads(p, [&](rank_t r) {
         auto me = ranks->join(r);
         auto const again = outcome_of([&] { auto twice = ranks->join(r, soon()); });
         EXPECT_EQ(again.type, type_name<timed_out>()) << again.message;
         EXPECT_NE(again.message.find("taken"), std::string::npos) << again.message;
         expect_sum(me);
       })) {
    EXPECT_EQ(one.type, "") << one.message;
  }
  expect_works_joined(*ranks);
}

/// Two threads want the same rank before the region opens: one waits for the others, one for the rank.
TEST_P(Adopted, RankThatTwoThreadsWantGoesToOneOfThem) {
  rank_t const p = ranks->size();
  if (p == 1) return;
  std::barrier<> both(2);
  auto const all = on_threads(2, [&](rank_t) {
    both.arrive_and_wait();
    auto me = ranks->join(0, soon());
  });
  expect_everybody_threw<timed_out>(all);
  expect_works_joined(*ranks);
}

TEST_P(Adopted, RanksAreAbortedFromOutside) {
  std::latch under_way(1);
  std::thread other([&] {
    under_way.wait();
    ranks->abort("enough of it");
  });
  expect_everybody_threw<aborted>(on_threads(ranks->size(),
                                             [&](rank_t r) {
                                               auto me = ranks->join(r);
                                               barrier(me);
                                               if (r == 0) under_way.count_down();
                                               for (;;) barrier(me);
                                             }),
                                  {"enough of it"});
  other.join();
  expect_works_joined(*ranks);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Adopted, ::testing::Values(1, 2, 3, 6), size_name);

TEST(Adopt, RefusesWhatMakesNoSense) {
  EXPECT_THROW((void)team::adopt(0), argument_error);
  auto const ranks = team::adopt(2);
  expect_everybody_threw<argument_error>({outcome_of([&] { auto me = ranks->join(2, soon()); })}, {"rank 2", "2"});
  EXPECT_THROW(ranks->run([](member&) {}), argument_error);
  team owning(options_for(2));
  EXPECT_THROW((void)owning.join(0, soon()), argument_error);
}

}  // namespace
}  // namespace coset::team_test
