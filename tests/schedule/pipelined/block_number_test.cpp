// SPDX-License-Identifier: Apache-2.0
// The best number of blocks: Träff's closed form where that holds, and cheaper than all other numbers everywhere.
#include "command/shown/selector.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "schedule/schedules.hpp"

namespace coset::schedule::testing {
namespace {

block_numbers::pricing pricing_of(schedule const& made, cost_model const& model) {
  return [work = counts(made, model)](double bytes) { return work.priced(bytes); };
}

block_numbers numbers_of(algorithm const& how, rank_t ranks, verb what, cost_model const& model) {
  return {how, ranks, what, 0, [&](schedule const& made) { return pricing_of(made, model); }};
}

TEST(BlockNumbers, AreTraeffsRootForBroadcasts) {
  double const alpha = 2e-6, beta = 1e-9;
  auto const model = cost_model::flat(alpha, beta, 5e-10);
  for (rank_t const ranks : {2u, 3u, 8u, 100u, 129u}) {
    auto const numbers = numbers_of({"n_block", {}}, ranks, verb::broadcast, model);
    for (double const bytes : {1.0, 1e3, 1e5, 1e6, 1e9}) {
      double const root = std::sqrt((ceil_log(ranks) - 1) * beta * bytes / alpha);
      EXPECT_NEAR(numbers.best(bytes), std::clamp(root, 1.0, bytes), 1) << ranks << ' ' << bytes;
    }
  }
}

TEST(BlockNumbers, AreCheaperThanOthersForAllPipelinesAndVerbs) {
  auto const model = cost_model::flat(1e-6, 1e-9, 3e-10);
  for (named_algorithm const& row : registry())
    for (verb const what : has_blocks(row) ? row.verbs : std::vector<verb>())
      for (rank_t const ranks : {2u, 7u, 16u, 33u}) {
        auto const numbers = numbers_of({row.name, {}}, ranks, what, model);
        for (double const bytes : {64.0, 1e5, 3e6}) {
          auto const seconds = [&](std::uint32_t blocks) {
            schedule const made = make(with_blocks({row.name, {}}, blocks), ranks, what, 0);
            return pricing_of(made, model)(bytes).total();
          };
          std::uint32_t const best = numbers.best(bytes);
          double const least = seconds(best);
          for (std::uint32_t const other : {1u, 2u, best / 2, best + best / 3 + 2, 2 * best + 2, 64u}) {
            if (other == 0) continue;
            EXPECT_LE(least, 1.05 * seconds(other))
                << row.name << ' ' << name_of(what) << ' ' << ranks << ' ' << bytes << ": " << best << ", " << other;
          }
        }
      }
}

TEST(BlockNumbers, StayWithinWhatCanBeCutAndWritten) {
  auto const free_steps = numbers_of({"pipelined", {}}, 8, verb::broadcast, cost_model::flat(0, 1e-9, 0));
  EXPECT_EQ(free_steps.best(100), 100u);
  EXPECT_EQ(free_steps.best(1e12), 65'536u);
  auto const free_bytes = numbers_of({"pipelined", {}}, 8, verb::broadcast, cost_model::flat(1e-6, 0, 0));
  EXPECT_EQ(free_bytes.best(1e9), 1u);
  EXPECT_EQ(numbers_of({"n_block", {}}, 1, verb::broadcast, cost_model::ten_gigabit()).best(1e9), 1u);
  EXPECT_THROW(numbers_of({"ring", {}}, 8, verb::allreduce, cost_model::ten_gigabit()), schedule_error);
}

TEST(BlockNumbers, AreThoseOfAllAlgorithmsToTry) {
  auto const model = cost_model::ten_gigabit();
  demand const wanted{.verb = verb::broadcast, .ranks = 16};
  auto const numbers = numbers_of({"n_block", {}}, 16, verb::broadcast, model);
  std::vector<algorithm> const tried =
      with_best_blocks({{"ring", {}}, {"n_block", {}}}, wanted, level_machine(16, model), 64e6);
  EXPECT_EQ(tried[0].text(), "ring");
  EXPECT_EQ(tried[1].text(), "n_block(blocks=" + std::to_string(numbers.best(64e6)) + ")");
}

}  // namespace
}  // namespace coset::schedule::testing
