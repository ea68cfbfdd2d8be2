// SPDX-License-Identifier: Apache-2.0
// Loops of updates by the ranks of a running team.
#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "support/teams.hpp"
#include "updates/interfaces.hpp"

namespace coset::updates_test {
namespace {

/// Rank r's part of what is written as one loop. Some ranks have more than others, and rank 1 has nothing.
template <class T>
std::span<T const> part_of(std::vector<T> const& all, member const& me) {
  std::size_t const ranks = me.size();
  auto const bound = [&](std::size_t r) {
    return r <= 1 || r >= ranks ? (r == 0       ? 0
                                   : r >= ranks ? all.size()
                                                : all.size() / 3)
           : r == 2             ? all.size() / 3
                                : all.size() * r / ranks;
  };
  return std::span(all).subspan(bound(me.rank()), bound(me.rank() + 1) - bound(me.rank()));
}

TEST(UpdatesOfRanks, EqualThePlainLoopOfOneRankAfterTheOther) {
  for (rank_t const ranks : {1u, 2u, 5u}) {
    team all({.ranks = ranks, .place = placement::unbound});
    auto const scatter = [&](auto&& target, auto const& keys, auto const& values, auto const& op,
                             scatter_options const& options) {
      all.run([&](member& me) { scatter_add(me, target, part_of(keys, me), part_of(values, me), op, options); });
    };
    expect_every_way(scatter);
    expect_joint_updates(scatter);
    expect_exceptions(scatter);
  }
}

TEST(UpdatesOfRanks, RefuseWhatTheOthersRefuse) {
  team all({.ranks = 3, .place = placement::unbound});
  expect_refusals(
      [&](auto&& target, auto const& keys, auto const& values, auto const& op, scatter_options const& options) {
        all.run([&](member& me) { scatter_add(me, target, keys, values, op, options); });
      });
}

TEST(UpdatesOfRanks, AreThoseOfThreadsThatTheCallerBrings) {
  updates<double> const loop(5000, 20'000);
  auto const adopted = team::adopt(3);
  expect_plain_loop(loop, plus(), whole(), [&](auto&& target, auto const& op, scatter_options const& options) {
    std::exception_ptr thrown;
    {
      std::vector<std::jthread> threads;
      for (rank_t rank = 0; rank < 3; ++rank)
        threads.emplace_back([&, rank] {
          auto me = adopted->join(rank);
          try {
            scatter_add(me, target, part_of(loop.keys, *me), part_of(loop.values, *me), op, options);
          } catch (...) {
            if (rank == 0) thrown = std::current_exception();
            me->reset(team::clock::now() + std::chrono::seconds(30));
          }
        });
    }
    if (thrown) std::rethrow_exception(thrown);
  });
}

TEST(UpdatesOfRanks, FollowEachOther) {
  team all({.ranks = 4, .place = placement::unbound});
  std::vector<std::int64_t> array(100);
  all.run([&](member& me) {
    std::vector<int> const keys(1000 * me.rank(), static_cast<int>(me.rank()));
    for (int round = 0; round < 20; ++round) {
      scatter_add(me, array, keys);
      scatter_add(me, array, 10, [](std::size_t i) { return 90 + i; }, one_each, plus(), {.by = way::atomics});
    }
  });
  for (std::size_t rank = 0; rank < 4; ++rank) EXPECT_EQ(array[rank], 20'000 * rank);
  for (std::size_t k = 90; k < 100; ++k) EXPECT_EQ(array[k], 80);
}

TEST(UpdatesOfRanks, OfPartsOfATeam) {
  team all({.ranks = 4, .place = placement::unbound});
  std::vector<std::vector<int>> arrays(2, std::vector<int>(10));
  all.run([&](member& me) {
    member half = me.split(static_cast<int>(me.rank() % 2));
    for (int round = 0; round < 10; ++round)
      scatter_add(half, arrays[me.rank() % 2], 100, [](std::size_t i) { return i % 10; }, one_each, plus(),
                  {.by = way::partition});
  });
  EXPECT_EQ(arrays, std::vector(2, std::vector<int>(10, 200)));
}

/// Everybody hears of it, whoever catches it.
TEST(UpdatesOfRanks, FailTheTeamByWhatAnOperationThrows) {
  team three({.ranks = 3, .place = placement::unbound});
  std::vector<int> array(100);
  for (way const by : every_way) {
    auto const told = team_test::outcomes(three, [&](member& me) {
      scatter_add(
          me, array, 5000, [](std::size_t i) { return i % 100; },
          [&](std::size_t i) { return me.rank() == 2 && i == 4321 ? throw std::domain_error("4321") : 1; }, plus(),
          {.by = by});
    });
    EXPECT_EQ(told[0].type, team_test::type_name<std::domain_error>()) << by << told[0].message;
    for (std::size_t rank : {1u, 2u}) {
      EXPECT_EQ(told[rank].type, team_test::type_name<aborted>()) << by;
      EXPECT_THAT(told[rank].message, ::testing::HasSubstr("4321")) << by;
    }
    team_test::expect_works(three);
  }
}

TEST(UpdatesOfRanks, TellAllOfTargetsThatDiffer) {
  team three({.ranks = 3, .place = placement::unbound});
  std::vector<int> array(100), other(100);
  std::vector<int> const keys(10);
  team_test::expect_everybody_threw<argument_error>(
      team_test::outcomes(three, [&](member& me) { scatter_add(me, me.rank() == 2 ? other : array, keys); }),
      {"the target of rank 0 has 100 elements", "rank 2"});
  team_test::expect_everybody_threw<argument_error>(
      team_test::outcomes(
          three, [&](member& me) { scatter_add(me, std::span(array).first(me.rank() == 1 ? 99 : 100), keys); }),
      {"has 100 elements", "rank 1 99"});
  team_test::expect_everybody_threw<argument_error>(
      team_test::outcomes(
          three, [&](member& me) { scatter_add(me, std::tie(array, me.rank() == 2 ? array : other), keys, one_each); }),
      {"of several targets rank 0 and rank 2"});
  team_test::expect_works(three);
}

TEST(UpdatesOfRanks, TellAllOfArgumentsOfOneRank) {
  team three({.ranks = 3, .place = placement::unbound});
  std::vector<int> array(100);
  team_test::expect_everybody_threw<argument_error>(
      team_test::outcomes(
          three,
          [&](member& me) { scatter_add(me, array, std::vector<int>(5), std::vector<int>(me.rank() == 2 ? 4 : 5)); }),
      {"5 keys and 4 values"});
  team_test::expect_everybody_threw<argument_error>(team_test::outcomes(three,
                                                                        [&](member& me) {
                                                                          if (me.rank() == 1)
                                                                            return scatter_add(me, array,
                                                                                               std::vector<short>(5));
                                                                          scatter_add(me, array, std::vector<int>(5));
                                                                        }),
                                                    {"of different types"});
}

TEST(UpdatesOfRanks, TellAllOfAnotherCollective) {
  team three({.ranks = 3, .place = placement::unbound});
  std::vector<int> array(100);
  team_test::expect_everybody_threw<mismatch_error>(team_test::outcomes(three, [&](member& me) {
    if (me.rank() == 1) return barrier(me);
    scatter_add(me, array, std::vector<int>(5));
  }));
}

/// Red under a sanitizer if a rank leaves while others look at its keys, or at what rank 0 has made.
TEST(UpdatesOfRanks, LeaveNobodyBehindWhoseKeysAreLookedAt) {
  for (rank_t const ranks : {2u, 5u}) {
    team all({.ranks = ranks, .place = placement::unbound});
    for (int run = 0; run < test::by_effort(20, 100, 1000); ++run) {
      std::vector<std::int64_t> array(5000);
      std::atomic<bool> started = false;
      std::jthread const aborting([&] {
        while (!started) std::this_thread::yield();
        all.abort("enough");
      });
      EXPECT_THROW(all.run([&](member& me) {
        started = true;
        for (std::size_t round = 0;; ++round) {
          std::vector<int> const keys(3000, static_cast<int>(me.rank()));
          scatter_add(me, array, keys, one_each, plus(), {.by = every_way[round % 6]});
        }
      }),
                   aborted);
    }
  }
}

}  // namespace
}  // namespace coset::updates_test
