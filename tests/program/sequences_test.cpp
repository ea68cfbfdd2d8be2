// SPDX-License-Identifier: Apache-2.0
// Different programs one after the other on the same lines and staging, and what keeps them apart.
#include <gtest/gtest.h>

#include <random>

#include "calls.hpp"
#include "effort.hpp"
#include "support/plan_texts.hpp"

namespace coset::program::testing {
namespace {

/// Any algorithm, verb, root, storage and way to call that compiles.
call any_call(std::vector<std::string> const& algorithms, rank_t ranks, std::mt19937_64& random) {
  auto const one_of = [&](auto const& all) { return all[random() % all.size()]; };
  for (;;) {
    std::string const algorithm = one_of(algorithms);
    verb const what = one_of(schedule::find_algorithm(schedule::algorithm::parse(algorithm).name).verbs);
    arrays const how = one_of(ways_to_call(what));
    policy storage = storage_of(one_of(policy_names()), how);
    storage.staging = one_of(std::vector{home::pieces, home::entry_line, home::second_line});
    storage.exchanges = random() % 2 != 0;
    try {
      return call_of(plan_of(algorithm, ranks, what, static_cast<rank_t>(random() % ranks)), storage, how);
    } catch (schedule_error const&) {  // this storage would lose a value
    }
  }
}

TEST(Sequence, OfAnyProgramsIsRightWithoutRaces) {
  for (rank_t ranks = 1; ranks <= test::by_effort<rank_t>(6, 12, 17); ++ranks) {
    std::mt19937_64 random(test::seed() * 1000 + ranks);
    auto const algorithms = team_test::plan_texts(ranks);
    for (int round = 0; round < test::by_effort(8, 60, 1000); ++round) {
      std::vector<call> calls;
      std::string text;
      for (int n = 0; n < 8; ++n) {
        calls.push_back(any_call(algorithms, ranks, random));
        text += text_of(*calls.back().plan, calls.back().code->storage, calls.back().how) + "\n";
      }
      auto const failure = failure_of(calls, random());
      ASSERT_FALSE(failure) << text << *failure;
    }
  }
}

std::vector<call> broadcasts(rank_t ranks, std::string const& algorithm, bool same_root) {
  std::vector<call> calls;
  for (rank_t n = 0; n < 6; ++n) {
    rank_t const root = same_root ? ranks / 2 : n % ranks;
    calls.push_back(call_of(plan_of(algorithm, ranks, verb::broadcast, root), "staged_pull"));
  }
  return calls;
}

/// How many of some orders of steps go wrong.
int failures(std::vector<call> const& calls, protocol rules) {
  int count = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) count += failure_of(calls, seed, rules).has_value();
  return count;
}

TEST(Reuse, KeepsTheRootOfBroadcastsFromLappingItsReaders) {
  for (rank_t ranks = 3; ranks <= 9; ++ranks) {
    for (std::string const algorithm : {"direct", "direct(saved_steps=1)", "binomial"}) {
      for (bool const same_root : {true, false}) {
        auto const calls = broadcasts(ranks, algorithm, same_root);
        EXPECT_EQ(failures(calls, {}), 0) << algorithm << " " << ranks << " " << same_root;
        EXPECT_EQ(failures(calls, {.waits_before_reuse = false}), 10) << algorithm << " " << ranks << " " << same_root;
      }
    }
  }
}

TEST(Reuse, IsNeededByReductionsAndScans) {
  for (rank_t ranks = 3; ranks <= 9; ++ranks) {
    call const reduction = call_of(plan_of("direct(saved_steps=1)", ranks, verb::reduce, 1), "staged_pull");
    call const scan = call_of(plan_of("direct(saved_steps=1)", ranks, verb::scan), "staged_pull");
    for (call const& c : {reduction, scan}) {
      EXPECT_FALSE(c.code->full);
      EXPECT_EQ(failures({c, c, c}, {}), 0) << ranks;
      EXPECT_EQ(failures({c, c, c}, {.waits_before_reuse = false}), 10) << ranks;
    }
  }
}

/// Red if the readers of a rank's lines are taken for all readers of its staging.
TEST(Reuse, WaitsForReadersByHearsay) {
  call const c = reader_by_hearsay(3, 2, 1, 0);
  EXPECT_FALSE(c.code->full);
  for (wait const& w : c.code->of[2].waits) EXPECT_NE(w.rank, 0u) << "no hearsay";
  EXPECT_NE(std::ranges::count(c.code->of[0].readers, 2u, &reader::rank), 0);
  EXPECT_EQ(failures({c, idle(3), c}, {}), 0);
  EXPECT_EQ(failures({c, idle(3), lone_owner(3, 0)}, {}), 0);
  EXPECT_NE(failures({c, idle(3), c}, {.waits_before_reuse = false}), 0);
}

/// Whom nobody awaits tells its entry last, which says that it has read. Others tell it before: red if that is taken for the same.
TEST(Reuse, LooksAtTheNextEntryOfReadersThatTellTheirsFirst) {
  call const reduction = call_of(plan_of("direct(saved_steps=1)", 4, verb::reduce, 1), "staged_pull");
  call const scan = call_of(plan_of("direct(saved_steps=1)", 4, verb::scan), "staged_pull");
  for (reader const& root : reduction.code->of[0].readers) EXPECT_TRUE(root.tells_when_done);
  EXPECT_EQ(failures({reduction, reduction, reduction, reduction}, {.takes_all_as_done = true}), 0);
  EXPECT_EQ(scan.code->of[0].readers, (std::vector<reader>{{1, false}, {2, false}, {3, true}}));
  EXPECT_NE(failures({scan, scan, scan, scan}, {.takes_all_as_done = true}), 0);
}

TEST(Reuse, IsFreeAfterFullOperations) {
  call const eager = call_of(plan_of("direct(saved_steps=1)", 6), "staged_pull");
  EXPECT_TRUE(eager.code->full);
  EXPECT_EQ(failures({eager, eager, eager, eager}, {.waits_before_reuse = false}), 0);
}

TEST(Parity, IsNeededTwiceByEagerPrograms) {
  for (rank_t ranks = 2; ranks <= 9; ++ranks) {
    call const eager = call_of(plan_of("direct(saved_steps=1)", ranks), "staged_pull");
    EXPECT_EQ(failures({eager, eager}, {}), 0) << ranks;
    EXPECT_EQ(failures({eager, eager}, {.parities = 1}), 10) << ranks;
  }
}

}  // namespace
}  // namespace coset::program::testing
