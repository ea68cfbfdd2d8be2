// SPDX-License-Identifier: Apache-2.0
// Träff's broadcast of n blocks: his four conditions, and the fewest steps for every number of ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "planning/schedule/pipelines/n_block.hpp"
#include "schedule/effort.hpp"
#include "schedule/pipelined/one_port.hpp"
#include "schedule/schedules.hpp"

namespace coset::schedule::testing {
namespace {

std::string with_blocks(std::uint32_t blocks) { return "n_block(blocks=" + std::to_string(blocks) + ")"; }

/// By round: what a rank receives, and what it gives, which is what the rank behind it by the round's skip receives.
std::pair<std::vector<int>, std::vector<int>> received_and_given(rank_t ranks, rank_t distance) {
  circulant_rounds const graph(ranks);
  auto const own = graph.received(distance);
  std::vector<int> const received(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(graph.rounds()));
  std::vector<int> given;
  for (std::size_t k = 0; k < graph.rounds(); ++k)
    given.push_back(graph.received(static_cast<rank_t>((distance + graph.skip(k)) % ranks))[k]);
  return {received, given};
}

/// Once, q rounds after the other, it receives all blocks, its first block before any other, and gives only what it has.
void expect_right(rank_t ranks, rank_t distance) {
  auto const [received, given] = received_and_given(ranks, distance);
  auto const rounds = static_cast<int>(received.size());
  ASSERT_EQ(received.size(), ceil_log(ranks));
  if (distance == 0) {
    std::vector<int> in_turn(received.size());
    std::iota(in_turn.begin(), in_turn.end(), 0);
    EXPECT_EQ(given, in_turn) << "the root of " << ranks << " ranks";
    return;
  }
  int const first = *std::ranges::max_element(received);
  std::vector<int> expected{first};
  for (int block = -rounds; block < 0; ++block)
    if (block != first - rounds) expected.push_back(block);
  EXPECT_TRUE(std::ranges::is_permutation(received, expected)) << ranks << " ranks, " << distance << " behind the root";
  for (int k = 0; k < rounds; ++k) {
    bool const is_of_last_rounds = given[k] == first - rounds;
    bool const is_received = std::find(received.begin(), received.begin() + k, given[k]) != received.begin() + k;
    EXPECT_TRUE(is_of_last_rounds || is_received) << ranks << " ranks, " << distance << " behind, round " << k;
  }
}

TEST(NBlock, HasTheSkipsOfTwentyTwoRanks) {
  circulant_rounds const graph(22);
  std::vector<std::uint64_t> skips;
  for (std::size_t k = 0; k <= graph.rounds(); ++k) skips.push_back(graph.skip(k));
  EXPECT_EQ(skips, (std::vector<std::uint64_t>{1, 2, 3, 6, 11, 22}));
  EXPECT_EQ(circulant_rounds(1).rounds(), 0u);
}

TEST(NBlock, ReceivesWhatItGivesOnBeforeForEveryRank) {
  for (rank_t ranks = 2; ranks <= by_effort<rank_t>(128, 400, 2100); ++ranks)
    for (rank_t distance = 0; distance < ranks; ++distance) {
      expect_right(ranks, distance);
      if (HasFailure()) return;
    }
}

TEST(NBlock, FindsTheBlocksOfOneRankAmongMany) {
  for (rank_t const ranks : {1023u, 1024u, 1025u, 99'999u, 100'000u, 67'108'864u, 4'294'967'295u})
    for (rank_t const distance : {0u, 1u, 2u, ranks / 3, ranks / 2, ranks / 2 + 1, ranks - 1})
      expect_right(ranks, distance);
}

TEST(NBlock, TakesTheFewestStepsEachWayAndOneBlockPerRank) {
  for (rank_t ranks = 2; ranks <= by_effort<rank_t>(24, 64, 64); ++ranks)
    for (block_t const blocks : {1u, 2u, 3u, 5u, 8u, 17u})
      for (rank_t const root : {rank_t{0}, ranks / 2, ranks - 1}) {
        for (verb const what : {verb::broadcast, verb::reduce}) {
          auto const made = schedule_of(with_blocks(blocks), ranks, what, root);
          auto const found = validate(made);
          EXPECT_EQ(found.steps, blocks - 1 + ceil_log(ranks)) << ranks << ' ' << blocks;
          EXPECT_EQ(what == verb::broadcast ? found.received_max : found.sent_max, fraction(1)) << ranks;
          EXPECT_EQ(most_of_one_rank(made), (most_blocks{1, 1})) << ranks << ' ' << blocks << " root " << root;
        }
        if (root > 0) continue;
        auto const made = schedule_of(with_blocks(blocks), ranks);
        auto const found = validate(made);
        EXPECT_EQ(found.steps, 2 * (blocks - 1 + ceil_log(ranks)));
        EXPECT_EQ(most_of_one_rank(made), (most_blocks{1, 1}));
        EXPECT_TRUE(found.rank_uniform);
      }
}

TEST(NBlock, GathersAndScattersAllPiecesAtOnceWithTheLeastVolume) {
  for (rank_t ranks = 2; ranks <= by_effort<rank_t>(16, 40, 64); ++ranks)
    for (block_t const blocks : {0u, 1u, 3u})
      for (verb const what : {verb::allgather, verb::reduce_scatter}) {
        auto const found = validate(schedule_of(with_blocks(blocks), ranks, what));
        EXPECT_EQ(found.steps, (blocks == 0 ? 0 : blocks - 1) + ceil_log(ranks)) << ranks << ' ' << blocks;
        EXPECT_EQ(found.received_max, fraction(ranks - 1, ranks));
        EXPECT_EQ(found.sent_max, fraction(ranks - 1, ranks));
      }
}

}  // namespace
}  // namespace coset::schedule::testing
