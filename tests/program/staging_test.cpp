// SPDX-License-Identifier: Apache-2.0
// Layers of staging are reserved for what instructions read or write there, and for nothing else.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "calls.hpp"
#include "effort.hpp"
#include "planning/program/bind.hpp"
#include "support/plan_texts.hpp"

namespace coset::program::testing {
namespace {

/// [layer][block]: whether some instruction of some rank touches it in somebody's staging.
std::vector<std::vector<bool>> touched(compiled const& c) {
  std::size_t const blocks = c.blocks.size();
  std::vector<std::vector<bool>> all(c.layers, std::vector<bool>(blocks));
  for (program const& p : c.of) {
    for (instruction const& i : p.code) {
      for (std::uint32_t k = 0; k < i.sources + i.destinations; ++k) {
        operand const& o = p.operands[i.operands + k];
        if (o.piece < blocks) continue;  // a caller's array
        for (std::uint32_t b = 0; b < i.block_end - i.block; ++b) {
          std::size_t const piece = o.piece + b;
          all.at(piece / blocks - 1).at(piece % blocks) = true;
        }
      }
    }
  }
  return all;
}

class Staging : public ::testing::TestWithParam<rank_t> {};

/// Red if an input that stays in its caller's array counts as a value that looks for room: reduce_scatter in zero copy.
TEST_P(Staging, HasNoLayerThatNoInstructionTouches) {
  rank_t const ranks = GetParam();
  std::uint64_t const stride = test::by_effort<std::uint64_t>(97, 7, 1);
  std::mt19937_64 choices(test::seed() + ranks);
  for (std::string const& algorithm : team_test::plan_texts(ranks)) {
    for (verb const what : schedule::find_algorithm(schedule::algorithm::parse(algorithm).name).verbs) {
      plan_pointer plan;
      for (arrays const how : ways_to_call(what)) {
        for (std::string const& name : policy_names()) {
          if (choices() % stride != 0) continue;
          if (!plan) plan = plan_of(algorithm, ranks, what, rooted(what) ? ranks - 1 : 0);
          policy const storage = storage_of(name, how);
          std::optional<compiled> made;
          try {
            made = compile(*plan, storage);
          } catch (schedule_error const&) {  // it would lose a value
            continue;
          }
          auto const layers = touched(*made);
          for (std::size_t layer = 0; layer < layers.size(); ++layer) {
            EXPECT_NE(std::count(layers[layer].begin(), layers[layer].end(), true), 0)
                << text_of(*plan, storage, how) << ": layer " << layer;
          }
        }
      }
      if (HasFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, Staging, ::testing::Range<rank_t>(1, 9), ::testing::PrintToStringParamName());

TEST(Staging, OfAReduceScatterInZeroCopyIsNone) {
  for (rank_t const ranks : {2, 3, 8}) {
    for (arrays const how : {arrays::apart, arrays::either})
      EXPECT_EQ(compile(*plan_of("direct", ranks, verb::reduce_scatter), storage_of("zero_copy", how)).layers, 0u);
  }
}

}  // namespace
}  // namespace coset::program::testing
