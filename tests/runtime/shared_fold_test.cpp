// SPDX-License-Identifier: Apache-2.0
// Long folds of callers' arrays, whose pieces go to whoever is free.
#include <gtest/gtest.h>
#include <coset/coset.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "effort.hpp"
#include "runtime/rank_state.hpp"
#include "support/ways.hpp"

namespace coset::team_test {
namespace {

/// Five pieces of each rank's part and a little more.
std::size_t count_for(rank_t ranks) { return ranks * (5 * 256 * 1024 / sizeof(float)) + 13; }

float value(rank_t rank, std::size_t i, int call) {
  return 1.0F / static_cast<float>(1 + (i + rank * 7 + call) % 1009);
}

plan_options in_place_of_others() { return plan_named("direct/zero_copy"); }

std::vector<float> input_of(rank_t rank, rank_t ranks, int call) {
  std::vector<float> in(count_for(ranks));
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = value(rank, i, call);
  return in;
}

thread_local rank_t this_rank = 0;

/// Rank 1 adds nothing before rank 0 has added so many elements: more than its part.
struct counted {
  struct shared {
    std::atomic<std::size_t> by_0 = 0;
    std::size_t awaited;
  };
  shared* all;

  float operator()(float a, float b) const {
    if (this_rank == 0) all->by_0.fetch_add(1, std::memory_order_relaxed);
    while (this_rank == 1 && all->by_0.load(std::memory_order_relaxed) < all->awaited) std::this_thread::yield();
    return a + b;
  }
};

/// Hangs if nobody helps.
TEST(SharedFold, IsDoneByWhoeverIsFree) {
  team ranks(options_for(2));
  std::size_t const count = count_for(2);
  counted::shared all;
  all.awaited = count / 2 + count / 5;
  auto const how = make_plan<float>(ranks, verb::allreduce, count, counted{&all}, in_place_of_others());
  ranks.run([&](member& me) {
    this_rank = me.rank();
    std::vector<float> const in = input_of(me.rank(), 2, 0);
    std::vector<float> out(count);
    how.execute(me, in, out);
    for (std::size_t i = 0; i < count; i += 97) ASSERT_EQ(out[i], value(0, i, 0) + value(1, i, 0));
  });
  EXPECT_GE(all.by_0, all.awaited);
}

/// Floats, whose sums differ by order: bits are those that nobody's help would give.
TEST(SharedFold, HasTheBitsOfItsOwner) {
  for (rank_t const size : {2u, 3u, 5u}) {
    team ranks(options_for(size));
    std::size_t const count = count_for(size);
    auto const shared = make_plan<float>(ranks, verb::allreduce, count, {}, in_place_of_others());
    auto const staged = make_plan<float>(ranks, verb::allreduce, count, {}, plan_named("direct/staged"));
    ranks.run([&](member& me) {
      std::vector<float> out(count), expected(count);
      for (int call = 0; call < test::by_effort(3, 20, 200); ++call) {
        std::vector<float> const in = input_of(me.rank(), size, call);
        shared.execute(me, in, out);
        if (call % 3 != 0) continue;
        staged.execute(me, in, expected);
        ASSERT_EQ(out, expected) << "call " << call;
      }
    });
  }
}

/// Only one rank has the result, which those that help write into, too; and ranks of a split team count for themselves.
TEST(SharedFold, ServesReductionsAndSplitTeams) {
  team ranks(options_for(3));
  plan_options to_1 = in_place_of_others();
  to_1.root = 1;
  auto const to_root = make_plan<float>(ranks, verb::reduce, count_for(3), maximum{}, to_1);
  ranks.run([&](member& me) {
    member pair = me.split(me.rank() == 1 ? 1 : 0);
    std::optional<plan<float, maximum>> of_pair;
    if (pair.size() == 2)
      of_pair.emplace(detail::any_team(pair.state().team), verb::allreduce, count_for(3), maximum{},
                      in_place_of_others());
    for (int call = 0; call < test::by_effort(3, 20, 100); ++call) {
      std::size_t const count = count_for(3);
      std::vector<float> const in = input_of(me.rank(), 3, call);
      std::vector<float> out(count), both(count);
      to_root.execute(me, in, out);
      if (pair.size() == 2) of_pair->execute(pair, in, both);
      for (std::size_t i = 0; i < count; i += 31) {
        float const of_0 = value(0, i, call), of_2 = value(2, i, call);
        if (me.rank() == 1) {
          ASSERT_EQ(out[i], std::max({of_0, value(1, i, call), of_2}));
        }
        if (pair.size() == 2) {
          ASSERT_EQ(both[i], std::max(of_0, of_2));
        }
      }
    }
  });
}

/// Of a piece that is another's, too.
TEST(SharedFold, EndsForAllWhereAnOperationThrows) {
  struct throwing {
    std::atomic<std::size_t>* calls;
    float operator()(float a, float b) const {
      if (calls->fetch_add(1, std::memory_order_relaxed) == 900'000) throw std::runtime_error("had enough");
      return a + b;
    }
  };
  team ranks(options_for(3));
  std::size_t const count = count_for(3);
  for (int run = 0; run < 3; ++run) {
    std::atomic<std::size_t> calls = 0;
    std::atomic<int> failed = 0;
    auto const how = make_plan<float>(ranks, verb::allreduce, count, throwing{&calls}, in_place_of_others());
    EXPECT_THROW(ranks.run([&](member& me) {
      std::vector<float> const in = input_of(me.rank(), 3, run);
      std::vector<float> out(count);
      try {
        how.execute(me, in, out);
      } catch (...) {
        ++failed;
        throw;
      }
    }),
                 std::exception);
    EXPECT_EQ(failed, 3);
  }
}

}  // namespace
}  // namespace coset::team_test
