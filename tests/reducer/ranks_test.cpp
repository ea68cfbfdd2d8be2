// SPDX-License-Identifier: Apache-2.0
// Reducers that the ranks of a team combine.
#include <algorithm>
#include <array>
#include <atomic>
#include <numeric>
#include <tuple>

#include "coset/reducers/joint_reducer.hpp"
#include "reducer/updates.hpp"

namespace coset::reducer_test {
namespace {

/// Where each rank has the copy of its own number and there are no others, parts go round from rank to rank.
TEST(Reducer, RanksFoldTheirOwnCopiesRoundAfterRound) {
  for (rank_t const ranks : {1u, 2u, 3u, 8u}) {
    team all({.ranks = ranks, .place = placement::unbound});
    for (std::size_t const n : {1u, 7u, 63u, 1000u, 30'011u}) {
      reducer<int> sum(n);
      std::vector<int> got(n, 5), expected(n, 5);
      for (rank_t round = 0; round < 6; ++round) {
        if (round == 3) sum.reset();  // what follows must not find what is forgotten here
        all.run([&](member& me) {
          auto const mine = sum.local(me);
          for (int again = 0; again < 2; ++again) {
            // One rank at a time has nothing to add.
            for (std::size_t i = me.rank(); i < n && me.rank() != round; ++i) mine[i] += static_cast<int>(i % 100);
            if (again == 0 && round == 2) continue;
            sum.combine_into(got, me);
          }
          if (round == 2) mine[0] += 1000;
        });
        for (rank_t r = 0; r < ranks; ++r)
          for (std::size_t i = r; i < n && r != round; ++i) expected[i] += 2 * static_cast<int>(i % 100);
        ASSERT_EQ(got, expected) << ranks << " ranks, " << n << " elements, round " << round;
      }
      // A smaller team folds what ranks have left that it has not.
      all.run([&](member& me) { sum.local(me)[n - 1] += 1; });
      expected[n - 1] += static_cast<int>(ranks);
      team pair({.ranks = 2, .place = placement::unbound});
      pair.run([&](member& me) { sum.combine_into(got, me); });
      ASSERT_EQ(got, expected);
    }
  }
}

TEST(Reducer, KeepsNoRankWaitingForOneWhoseOperationThrows) {
  std::atomic<bool> throws = true;
  auto const sum_or_throw = [&throws](int a, int b) {
    if (throws && b == 77) throw std::runtime_error("77");
    return a + b;
  };
  reducer sum(1000, sum_or_throw, 0);
  team four({.ranks = 4, .place = placement::unbound});
  std::vector<int> got(1000);
  EXPECT_THROW(four.run([&](member& me) {
    auto const mine = sum.local(me);
    for (std::size_t i = 0; i < 1000; ++i) mine[i] = me.rank() == 2 && i == 500 ? 77 : 1;
    sum.combine_into(got, me);
  }),
               std::runtime_error);
  throws = false;
  sum.reset();
  got.assign(1000, 0);
  four.run([&](member& me) {
    auto const mine = sum.local(me);
    for (std::size_t i = 0; i < 1000; ++i) mine[i] += 77;
    sum.combine_into(got, me);
  });
  EXPECT_EQ(std::count(got.begin(), got.end(), 4 * 77), 1000);
}

/// Red if combine_into() leaves the team as it was: a body that catches the exception would end as if nothing had been.
TEST(Reducer, TellsAllRanksOfAnOperationThatThrowsWhoeverCatchesIt) {
  team three({.ranks = 3, .place = placement::unbound});
  for (bool const is_error : {true, false})
    for (bool const has_all_copies : {true, false}) {
      auto const sum_or_throw = [is_error](int a, int b) -> int {
        if (b != 77) return a + b;
        if (is_error) throw std::domain_error("77");
        throw 77;
      };
      reducer sum(1000, sum_or_throw, 0);
      std::vector<int> got(1000);
      std::atomic<int> thrown = 0, told = 0;
      three.run([&](member& me) {
        if (has_all_copies) sum.local(me)[0] = 1;
        if (me.rank() == 1) sum.local(me)[500] = 77;
        try {
          sum.combine_into(got, me);
        } catch (aborted const& e) {
          told += std::string(e.what()).find("the operation threw") != std::string::npos;
        } catch (...) {
          ++thrown;
        }
      });
      EXPECT_EQ(thrown, 1);
      EXPECT_EQ(told, 2);
    }
}

TEST(Reducer, LeavesNoRankBehindThatTheOthersHaveLeft) {
  for (rank_t const ranks : {4u, 9u}) {
    team all({.ranks = ranks, .place = placement::unbound});
    for (int run = 0; run < test::by_effort(20, 100, 1000); ++run) {
      reducer<int> sum(5000);
      std::vector<int> got(5000);
      std::atomic<bool> started = false;
      std::jthread const aborting([&] {
        while (!started) std::this_thread::yield();
        all.abort("enough");
      });
      EXPECT_THROW(all.run([&](member& me) {
        started = true;
        for (;;) {
          sum.local(me)[me.rank()] += 1;
          sum.combine_into(got, me);
        }
      }),
                   aborted);
    }
  }
}

TEST(Reducer, TellsAllRanksOfAnArrayOfAnotherLength) {
  team three({.ranks = 3, .place = placement::unbound});
  reducer<int> sum(100);
  std::vector<int> got(100), longer(101);
  std::atomic<int> told = 0;
  three.run([&](member& me) {
    try {
      sum.combine_into(me.rank() == 1 ? longer : got, me);
    } catch (argument_error const& e) {
      told += std::string(e.what()).find("101") != std::string::npos;
    }
  });
  EXPECT_EQ(told, 3);
}

TEST(Reducer, TellsRanksThatCombineDifferently) {
  team three({.ranks = 3, .place = placement::unbound});
  reducer<int> one(100), other(100);
  std::vector<int> got(100), elsewhere(100);
  enum class differ { reducers, arrays, ways };
  for (differ const what : {differ::reducers, differ::arrays, differ::ways}) {
    std::atomic<int> told = 0;
    three.run([&](member& me) {
      bool const odd = me.rank() == 2;
      try {
        (odd && what == differ::reducers ? other : one)
            .combine_into(odd && what == differ::arrays ? elsewhere : got, me,
                          odd && what == differ::ways ? combining::assign : combining::add);
      } catch (mismatch_error const& e) {
        std::string const said = e.what();
        told += said.find("reducers") != std::string::npos ||
                (what == differ::ways && said.find("combine(add)") != std::string::npos &&
                 said.find("combine(assign)") != std::string::npos);
      }
    });
    EXPECT_EQ(told, 3) << static_cast<int>(what);
  }
}

/// Red if copies are folded one after the other into elements, which hold less than the partial sums do.
TEST(Reducer, RoundsReproducibleSumsOnce) {
  team three({.ranks = 3, .place = placement::unbound});
  for (combining const how : {combining::add, combining::assign}) {
    reducer<double, reproducible_plus> sum(6);
    std::vector<double> got(6);
    three.run([&](member& me) {
      constexpr double brought[] = {1, 1e16, -1e16};
      for (double& element : sum.local(me)) element += brought[me.rank()];
      barrier(me);
      sum.combine_into(got, me, how);
    });
    EXPECT_EQ(got, std::vector<double>(6, 1));
  }
}

}  // namespace
}  // namespace coset::reducer_test
