// SPDX-License-Identifier: Apache-2.0
// What the library chooses by itself, each verb at each size, called in every way; shared outputs among it.
#include <gtest/gtest.h>

#include <numeric>

#include "calls.hpp"
#include "effort.hpp"
#include "planning/choice/choose.hpp"

namespace coset::program::testing {
namespace {

struct asked {
  verb what;
  verb plan;
};

constexpr std::array verbs{asked{verb::allreduce, verb::allreduce},           asked{verb::reduce, verb::reduce},
                           asked{verb::reduce_scatter, verb::reduce_scatter}, asked{verb::allgather, verb::allgather},
                           asked{verb::broadcast, verb::broadcast},           asked{verb::scan, verb::scan},
                           asked{verb::exclusive_scan, verb::exclusive_scan}};

std::vector<std::size_t> const sizes{8, 4 * 1024, 64 * 1024, 512 * 1024, 64 * 1024 * 1024};

std::vector<rank_t> teams() {
  std::vector<rank_t> all;
  for (rank_t r = 1; r <= 17; ++r) all.push_back(r);
  all.push_back(24);
  return test::by_effort<std::vector<rank_t>>({1, 2, 3, 4, 5, 6, 24}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 24}, all);
}

/// As the library does: where results would take the place of inputs that are still read, both are staged.
call chosen_call(asked const& a, choice::question question, arrays how) {
  question.what = a.what;
  question.in_place = how != arrays::apart;
  auto const chosen = choice::choose(question);
  auto const plan = plan_of(chosen.algorithm.text(), question.ranks, a.plan, question.ranks / 2);
  policy storage = chosen.storage;
  storage.in_place = how != arrays::apart;
  try {
    return call_of(plan, storage, how);
  } catch (schedule_error const& e) {
    EXPECT_TRUE(storage.in_place && (a.what == verb::scan || a.what == verb::exclusive_scan))
        << text_of(*plan, storage, how) << ": " << e.what();
    return call_of(plan, policy{area::staging, area::staging, storage.how, storage.in_place}, how);
  }
}

TEST(Choice, IsRightWithoutRacesForEveryVerbAndSize) {
  for (rank_t const ranks : teams()) {
    for (asked const& a : verbs) {
      for (std::size_t const bytes : sizes) {
        for (arrays const how : ways_to_call(a.plan)) {
          call const c = chosen_call(a, {.ranks = ranks, .bytes = bytes}, how);
          auto const failure = failure_of({c, c, c}, test::seed());
          EXPECT_FALSE(failure) << text_of(*c.plan, c.code->storage, how) << ": " << *failure;
        }
      }
    }
  }
}

/// Levels, nodes of different sizes, numbers without factors, ranks that take turns.
std::vector<choice::question> odd_teams() {
  using groups = std::vector<rank_t>;
  std::vector<std::vector<groups>> const machines{
      {{5, 2, 4}}, {{1, 7}}, {{6, 6, 4}}, {{3, 1}}, {{4, 4, 4}}, {groups(8, 2), groups(2, 8)}, {groups(2, 13)}};
  std::vector<choice::question> all;
  for (auto const& levels : machines) {
    auto& q = all.emplace_back();
    q.ranks = std::accumulate(levels.front().begin(), levels.front().end(), rank_t{0});
    q.levels = std::make_shared<schedule::level_machine const>(choice::usual_levels(q.ranks, levels));
  }
  all.push_back({.ranks = 31});
  all.push_back({.ranks = 9, .crowded = true});
  return all;
}

TEST(Choice, IsRightOnNodesOfAnySizeAndInCrowds) {
  test::sample cases(7);
  for (choice::question question : odd_teams()) {
    for (asked const& a : verbs) {
      for (std::size_t const bytes : sizes) {
        question.bytes = bytes;
        for (arrays const how : ways_to_call(a.plan)) {
          if (cases.skips()) continue;
          call const c = chosen_call(a, question, how);
          auto const failure = failure_of({c, c, c}, test::seed());
          EXPECT_FALSE(failure) << text_of(*c.plan, c.code->storage, how) << ": " << *failure;
        }
      }
    }
  }
}

/// Rank 0's for all, or one of each node of three ranks.
std::vector<std::vector<rank_t>> ways_to_share(rank_t ranks) {
  std::vector<std::vector<rank_t>> ways(2);
  for (rank_t r = 0; r < ranks; ++r) {
    ways[0].push_back(0);
    ways[1].push_back(r / 3 * 3);
  }
  return ways;
}

/// By plans that make each result once: whoever else has it has a copy.
TEST(SharedOutputs, HoldTheResultUntilTheirReadersEnterAgain) {
  for (rank_t const ranks : teams()) {
    std::string const chosen = choice::choose({verb::reduce_shared, ranks, sizes.back()}).algorithm.text();
    for (std::string const& algorithm :
         {chosen, std::string("generalized"), std::string("bruck"), std::string("ring")}) {
      auto const plan = plan_of(algorithm, ranks);
      for (std::string const& name : policy_names()) {
        for (auto const& whose : ways_to_share(ranks)) {
          SCOPED_TRACE(text_of(*plan, storage_of(name, arrays::shared), arrays::shared));
          call const shared = call_of(plan, storage_of(name, arrays::shared), arrays::shared, whose);
          call const other = call_of(plan, "staged");
          auto const failure = failure_of({shared, shared, other, shared, idle(ranks), shared}, test::seed());
          EXPECT_FALSE(failure) << text_of(*plan, shared.code->storage, arrays::shared) << ": " << *failure;
        }
      }
    }
  }
}

}  // namespace
}  // namespace coset::program::testing
