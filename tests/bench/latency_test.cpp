// SPDX-License-Identifier: Apache-2.0
// The tournament that the latency probe plays, the classes it finds, and that it finds any latency at all.
#include "command/measure/machine/latency.hpp"

#include <gtest/gtest.h>

#include <set>

#include "numa/binding.hpp"

namespace coset::measure {
namespace {

latency_matrix all_apart(rank_t ranks) { return latency_matrix(ranks, std::vector<double>(ranks, 200)); }

void bring_together(latency_matrix& latency, rank_t a, rank_t b) { latency[a][b] = latency[b][a] = 25; }

TEST(Tournament, EverybodyMeetsEverybodyExactlyOnce) {
  for (rank_t ranks = 1; ranks <= 33; ++ranks) {
    std::set<std::pair<rank_t, rank_t>> met;
    for (rank_t round = 0; round < opponent_rounds(ranks); ++round) {
      for (rank_t rank = 0; rank < ranks; ++rank) {
        rank_t const other = opponent(ranks, round, rank);
        ASSERT_LT(other, ranks);
        ASSERT_EQ(opponent(ranks, round, other), rank) << ranks << " ranks, round " << round;
        if (rank < other) {
          ASSERT_TRUE(met.emplace(rank, other).second);
        }
      }
    }
    EXPECT_EQ(met.size(), std::size_t{ranks} * (ranks - 1) / 2);
  }
}

TEST(Nearness, OneClusterIsNear) {
  auto latency = all_apart(3);
  bring_together(latency, 0, 1);
  bring_together(latency, 1, 2);  // 0 and 2 meet through 1
  EXPECT_EQ(classify(latency).describe(), "near");
  EXPECT_EQ(classify(all_apart(1)).describe(), "near");
}

TEST(Nearness, AllApartIsFarBesideAPairThatWasNearBefore) {
  EXPECT_EQ(classify(all_apart(4), 25).describe(), "far");
  EXPECT_EQ(classify(all_apart(4)).describe(), "near") << "nothing nearer was ever seen";
}

TEST(Nearness, IsNotAskedForWhereRanksTakeTurns) {
  unsigned const here = numa::current_processor();
  EXPECT_TRUE(latency_probe({here, here}).takes_turns());
  EXPECT_FALSE(latency_probe({here}).takes_turns());
  EXPECT_EQ(classify({}).describe(), "shared");
}

TEST(Nearness, HoldsWithinTwiceTheNearestWhateverTheNanoseconds) {
  for (double const nearest : {8.0, 76.0, 300.0}) {
    auto latency = latency_matrix(3, std::vector<double>(3, 2.1 * nearest));
    latency[0][1] = latency[1][0] = nearest;
    latency[1][2] = latency[2][1] = 1.9 * nearest;
    EXPECT_EQ(classify(latency).describe(), "near");
    latency[1][2] = latency[2][1] = 2.1 * nearest;
    EXPECT_EQ(classify(latency).describe(), "clustered {0,1} {2}");
  }
}

TEST(Nearness, PairsAreNamed) {
  auto latency = all_apart(5);
  bring_together(latency, 0, 3);
  bring_together(latency, 2, 4);
  EXPECT_EQ(classify(latency).describe(), "clustered {0,3} {1} {2,4}");
  EXPECT_EQ(classify(latency).kind(), "clustered 2+2+1");
}

TEST(Nearness, AnotherPartitionIsAnotherStateOfTheSameKind) {
  auto one = all_apart(4), other = all_apart(4);
  bring_together(one, 0, 1);
  bring_together(other, 0, 2);
  EXPECT_FALSE(classify(one) == classify(other));
  EXPECT_EQ(classify(one).kind(), classify(other).kind());
}

TEST(LatencyProbe, OfAProcessorThatIsNotThereIsRefused) {
  unsigned const here = numa::current_processor();
  try {
    latency_probe({here, 1000000});
    ADD_FAILURE();
  } catch (topology_error const& e) {
    EXPECT_NE(std::string(e.what()).find("processor 1000000"), std::string::npos) << e.what();
  }
}

TEST(LatencyProbe, FindsASymmetricPositiveMatrix) {
  unsigned const here = numa::current_processor();
  latency_probe probe({here, here, here});  // three ranks on one processor: they yield to each other
  auto const latency = probe.measure();
  ASSERT_EQ(latency.size(), 3u);
  for (rank_t a = 0; a < 3; ++a) {
    EXPECT_EQ(latency[a][a], 0);
    for (rank_t b = 0; b < a; ++b) {
      EXPECT_GT(latency[a][b], 0);
      EXPECT_EQ(latency[a][b], latency[b][a]);
    }
  }
}

}  // namespace
}  // namespace coset::measure
