// SPDX-License-Identifier: Apache-2.0
// Pairs write staging where they have read, and nobody else does.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "calls.hpp"
#include "planning/program/bind.hpp"

namespace coset::program::testing {
namespace {

call staged_call(std::string const& algorithm, rank_t ranks, verb what, std::string const& name = "staged") {
  policy storage = storage_of(name, arrays::apart);
  storage.exchanges = true;
  return call_of(plan_of(algorithm, ranks, what), storage, arrays::apart);
}

/// What exchanges: every value is staged once, for one rank that stages as much in return.
std::vector<call> exchanging() {
  std::vector<call> all;
  for (rank_t ranks = 2; ranks <= 6; ++ranks)
    for (verb const what : {verb::all_to_all, verb::reduce_scatter}) all.push_back(staged_call("direct", ranks, what));
  all.push_back(staged_call("direct", 2, verb::allgather));
  all.push_back(staged_call("direct(saved_steps=1)", 2, verb::allreduce));
  return all;
}

using block_of_staging = std::pair<std::uint32_t, std::uint32_t>;  ///< base of parity 0, piece

/// Who writes and who reads each block of staging.
std::map<block_of_staging, std::pair<std::set<rank_t>, std::set<rank_t>>> users(compiled const& c, bool is_exchanged) {
  std::map<block_of_staging, std::pair<std::set<rank_t>, std::set<rank_t>>> all;
  for (rank_t r = 0; r < c.ranks; ++r)
    for (instruction const& i : c.of[r].code)
      for (std::uint32_t k = 0; k < i.sources + i.destinations; ++k) {
        place const& at = c.of[r].operands[i.operands + k].at(is_exchanged);
        if (at.base[0] / c.ranks != row_staging) continue;
        auto& [writers, readers] = all[{at.base[0], at.piece}];
        (k < i.sources ? readers : writers).insert(r);
      }
  return all;
}

TEST(Exchange, HasEachReaderWriteNext) {
  for (call const& c : exchanging()) {
    ASSERT_TRUE(c.code->storage.exchanges) << text_of(*c.plan, c.code->storage, c.how);
    auto const usual = users(*c.code, false), exchanged = users(*c.code, true);
    ASSERT_EQ(usual.size(), exchanged.size());
    for (auto const& [block, who] : usual) {
      ASSERT_EQ(who.first.size(), 1u);
      EXPECT_EQ(exchanged.at(block), std::pair(who.second, who.first));
    }
  }
}

TEST(Exchange, IsNotOfWhatSeveralReadOrNobodyReturns) {
  for (auto const& [algorithm, ranks, what] : {std::tuple("direct", 2u, verb::broadcast),
                                               {"direct", 2u, verb::allreduce},
                                               {"direct", 3u, verb::allgather},
                                               {"direct", 2u, verb::scan},
                                               {"direct(saved_steps=1)", 3u, verb::allreduce},
                                               {"ring", 3u, verb::allreduce},
                                               {"direct", 3u, verb::gather}}) {
    compiled const c = *staged_call(algorithm, ranks, what).code;
    EXPECT_FALSE(c.storage.exchanges) << algorithm << " " << ranks;
    EXPECT_EQ(users(c, false), users(c, true));
  }
  EXPECT_FALSE(staged_call("direct", 2, verb::all_to_all, "staged+return").code->storage.exchanges);
}

TEST(Exchange, IsForBlocksThatAreMovedByThemselvesAnyway) {
  compiled const c = *call_of(plan_of("direct", 4, verb::reduce_scatter), "staged").code;
  EXPECT_FALSE(c.storage.exchanges);
  EXPECT_FALSE(is_worth_exchanging(c, 4 * 1023, SIZE_MAX));
  EXPECT_TRUE(is_worth_exchanging(c, 4 * 1024, SIZE_MAX));
  EXPECT_FALSE(is_worth_exchanging(c, 4 * 1024, c.layers * std::size_t{8 * 1024} - 1)) << "staging that cannot grow";
  EXPECT_FALSE(is_worth_exchanging(*call_of(plan_of("direct", 4, verb::reduce_scatter), "staged+return").code, 1 << 20,
                                   SIZE_MAX));
}

/// `reader` uses what lies where rank 0 writes two operations later, when pairs have exchanged staging, and rank 0 does not meet it
/// in between.
std::vector<call> unmet(rank_t reader, call const& exchanging) {
  rank_t const ranks = exchanging.code->ranks;
  return {exchanging, idle(ranks), lone_reader(ranks, reader, 1), idle(ranks), exchanging};
}

TEST(Exchange, AsksAllToHaveLeftWhoMayUseAnothersStaging) {
  for (call const& c : {staged_call("direct", 3, verb::all_to_all), staged_call("direct", 3, verb::reduce_scatter)}) {
    int red = 0;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      EXPECT_EQ(failure_of(unmet(2, c), seed), std::nullopt);
      red += failure_of(unmet(2, c), seed, {.asks_everybody = false}).has_value();
    }
    EXPECT_GT(red, 0);
  }
}

/// Between two calls of a program others may come, in any number.
TEST(Exchange, GoesOnWhateverComesBetween) {
  for (call const& c : exchanging()) {
    rank_t const ranks = c.code->ranks;
    for (int between = 0; between < 4; ++between) {
      std::vector<call> calls;
      for (int n = 0; n < 5; ++n) {
        calls.push_back(c);
        for (int k = 0; k < between; ++k) calls.push_back(k % 2 == 0 ? idle(ranks) : lone_owner(ranks, ranks - 1));
      }
      EXPECT_EQ(failure_of(calls, static_cast<std::uint64_t>(between)), std::nullopt)
          << text_of(*c.plan, c.code->storage, c.how) << ", " << between << " between";
    }
  }
}

TEST(Exchange, LeavesRoomForTheLongestBlockEverywhere) {
  for (call const& c : exchanging())
    for (std::size_t const count : {1000, 1024, 4099}) {
      layout const l = coset::program::bind(*c.code, count, {4});
      ASSERT_TRUE(l.exchanges) << c.code->ranks << " ranks, " << count;
      std::size_t const blocks = c.code->blocks.size();
      std::size_t longest = 0;
      for (std::size_t b = 0; b < blocks; ++b) longest = std::max(longest, l.boundary[b + 1] - l.boundary[b]);
      for (std::size_t k = blocks; k < l.offset.size(); ++k) {
        std::size_t const next = k + 1 < l.offset.size() ? l.offset[k + 1] : l.staging_bytes;
        EXPECT_LE(l.offset[k] + 4 * longest, next);
      }
    }
}

TEST(Exchange, IsNotWorthMuchMoreStaging) {
  compiled const c = *staged_call("direct", 4, verb::reduce_scatter).code;
  EXPECT_TRUE(coset::program::bind(c, {{0, 100, 200, 300, 400}}, {4}).exchanges);
  layout const l = coset::program::bind(c, {{0, 0, 0, 400, 400}}, {4});
  EXPECT_FALSE(l.exchanges);
  EXPECT_EQ(l.staging_bytes, c.layers * 1600u);
}

}  // namespace
}  // namespace coset::program::testing
