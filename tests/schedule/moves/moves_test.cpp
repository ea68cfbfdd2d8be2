// SPDX-License-Identifier: Apache-2.0
// gather, scatter and all_to_all of every algorithm: what they move, in how many steps, and who serves them.
#include <gtest/gtest.h>

#include <algorithm>

#include "effort.hpp"
#include "schedule/schedules.hpp"

namespace coset::schedule::testing {
namespace {

constexpr verb moves[]{verb::gather, verb::scatter, verb::all_to_all};

properties of(std::string_view text, rank_t ranks, verb what, rank_t root = 0) {
  return validate(schedule_of(text, ranks, what, root));
}

TEST(Moves, AreServedByWhateverServesWhatTheyAreMadeOf) {
  for (named_algorithm const& row : registry()) {
    bool const whole = !has_blocks(row);  // blocks of a pipeline are of one vector for all
    bool const gathers = serves(row, verb::allgather) || serves(row, verb::reduce);
    EXPECT_EQ(serves(row, verb::gather), whole && gathers) << row.name;
    EXPECT_EQ(serves(row, verb::scatter), whole && serves(row, verb::broadcast)) << row.name;
    EXPECT_EQ(serves(row, verb::all_to_all), whole && serves(row, verb::reduce_scatter)) << row.name;
  }
}

TEST(Moves, CombineNothing) {
  for (std::string const text :
       {"direct", "generalized", "ring", "recursive_doubling", "bruck_ho(n=2)", "unequal(nodes=3+5)"})
    for (verb const what : moves) EXPECT_EQ(of(text, 8, what, 3).combined_max, fraction(0)) << text;
}

TEST(Moves, DirectlyTakeOneStepAndTheLeastVolume) {
  for (rank_t ranks = 2; ranks <= test::by_effort<rank_t>(17, 64, 128); ++ranks)
    for (verb const what : moves) {
      properties const found = of("direct", ranks, what, ranks / 2);
      EXPECT_EQ(found.steps, 1u) << ranks;
      EXPECT_EQ(std::max(found.sent_max, found.received_max), found.volume_bound) << ranks << name_of(what);
    }
}

/// Binomial trees: in each step a rank passes on what it has of all that are behind it, or for all of them.
TEST(Moves, AlongTreesTakeLogarithmicallyManyStepsAndTheRootsLeastVolume) {
  for (rank_t ranks = 2; ranks <= test::by_effort<rank_t>(17, 64, 128); ++ranks)
    for (std::string const text : {"binomial", "generalized", "dilated", "circulant"})
      for (verb const what : {verb::gather, verb::scatter}) {
        properties const found = of(text, ranks, what, ranks / 3);
        EXPECT_LE(found.steps, ceil_log(ranks)) << text << ranks << name_of(what);
        auto const at_root = what == verb::gather ? found.received_max : found.sent_max;
        EXPECT_EQ(at_root, found.volume_bound) << text << ranks << name_of(what);
      }
}

/// Bruck et al.: what has to go t ranks on moves once for each digit of t that is not 0.
TEST(AllToAll, ByPowersMovesEveryPieceOncePerDigit) {
  for (rank_t radix = 2; radix <= 4; ++radix)
    for (rank_t ranks = radix, digits = 1; ranks <= test::by_effort<rank_t>(27, 64, 128); ranks *= radix, ++digits) {
      properties const found = of("dilated(radix=" + std::to_string(radix) + ")", ranks, verb::all_to_all);
      EXPECT_EQ(found.steps, digits);
      EXPECT_EQ(found.received_max, fraction(std::int64_t{digits} * (radix - 1), radix)) << radix << " " << ranks;
      EXPECT_EQ(found.sent_max, found.received_max);
    }
}

TEST(AllToAll, ByNodesCrossesEachLevelOnce) {
  properties const found = of("product(dims=4x3)", 12, verb::all_to_all);
  EXPECT_EQ(found.steps, 2u);
  EXPECT_EQ(found.received_max, fraction(3, 4) + fraction(2, 3));
}

TEST(AllToAll, OnARingMovesEveryPieceItsWholeWay) {
  for (rank_t const ranks : {2u, 5u, 12u}) {
    properties const found = of("ring", ranks, verb::all_to_all);
    EXPECT_EQ(found.steps, ranks - 1);
    EXPECT_EQ(found.received_max, fraction(std::int64_t{ranks} - 1, 2));
    EXPECT_EQ(found.fan_in, 1u);
  }
}

/// Not all begin with the same rank.
TEST(AllToAll, DirectlyBeginsWithTheNextNeighbour) {
  rank_t const ranks = 6;
  schedule const made = schedule_of("direct", ranks, verb::all_to_all);
  for (rank_t r = 0; r < ranks; ++r) {
    auto const first = std::ranges::find(made.steps.at(0), r, &assignment::rank);
    ASSERT_NE(first, made.steps[0].end());
    EXPECT_EQ(made.from(*first).front().rank, (r + 1) % ranks);
  }
}

/// P² moves, not P³.
TEST(AllToAll, OfManyRanksHasTheMovesItNeeds) {
  rank_t const ranks = test::by_effort<rank_t>(256, 512, 1024);
  schedule const made = schedule_of("direct", ranks, verb::all_to_all);
  EXPECT_EQ(made.sources.size(), std::size_t{ranks} * (ranks - 1));
  EXPECT_EQ(made.blocks.size(), ranks);
}

void expect_no_room(char const* how, rank_t ranks, verb what) {
  try {
    schedule_of(how, ranks, what);
    ADD_FAILURE() << how << " is accepted";
  } catch (schedule_error const& e) {
    EXPECT_NE(std::string(e.what()).find("too many to write out"), std::string::npos) << e.what();
  }
}

TEST(AllToAll, ForWhichThereIsNoRoomIsRefused) { expect_no_room("ring", 700, verb::all_to_all); }

/// A tree of the whole vector has one block, whose pieces are too many.
TEST(Moves, OfMorePiecesThanThereIsRoomForAreRefused) {
  for (verb const what : {verb::gather, verb::scatter}) expect_no_room("binomial", 8193, what);
  expect_no_room("bruck_ho", 8193, verb::reduce_scatter);
}

TEST(Moves, HaveARootOnlyWhereTheirVerbHas) {
  EXPECT_FALSE(schedule_of("generalized", 7, verb::all_to_all).root);
  EXPECT_EQ(schedule_of("generalized", 7, verb::gather, 5).root, 5u);
}

}  // namespace
}  // namespace coset::schedule::testing
