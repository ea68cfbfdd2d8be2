// SPDX-License-Identifier: Apache-2.0
// What a plan says of callers' arrays, and how it is cut where staging is short.
#include "planning/plan/binding.hpp"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <vector>

#include "coset/operations.hpp"
#include "planning/plan/shape.hpp"

namespace coset::planning {
namespace {

constexpr rank_t ranks = 3;

team_facts three_ranks(std::size_t most_staging = SIZE_MAX) {
  team_facts facts;
  facts.ranks = ranks;
  facts.node_leaders = {0, 0, 0};
  facts.most_staging = most_staging;
  return facts;
}

struct bound {
  std::shared_ptr<detail::bound_plan> plan;
  std::vector<std::size_t> begins, ends;  ///< of what the ranks give, then of what they get

  explicit bound(std::shared_ptr<detail::bound_plan> p) : plan(std::move(p)) {
    for (auto const* side : {&plan->arrays.gives, &plan->arrays.gets})
      for (detail::extent const& e : *side) begins.push_back(e.begin), ends.push_back(e.end);
  }
};

bound bind(verb what, std::size_t count, std::vector<std::size_t> const& counts = {},
           std::size_t most_staging = SIZE_MAX, std::size_t segment_bytes = 0, char const* algorithm = "direct",
           char const* storage = "staged") {
  programs known;
  detail::call const c{
      .what = what, .count = count, .reduction = &detail::table_of<float, plus>(), .root = 1, .counts = counts};
  signature const s{what, c.reduction, count, c.root, in_place(c), 0, counts_hash(counts)};
  return bound(bind_plan(
      three_ranks(most_staging), known, s, c,
      {.algorithm = {algorithm, {}}, .storage = program::parse_policy(storage), .segment_bytes = segment_bytes}));
}

using sizes = std::vector<std::size_t>;

TEST(Extents, AreWhatEachRankGivesAndGets) {
  bound all = bind(verb::allreduce, 6);
  EXPECT_EQ(all.ends, (sizes{24, 24, 24, 24, 24, 24}));
  EXPECT_EQ(all.begins, sizes(6, 0));
  EXPECT_EQ(bind(verb::reduce, 6).ends, (sizes{24, 24, 24, 0, 24, 0}));
  EXPECT_EQ(bind(verb::broadcast, 6).ends, (sizes{0, 24, 0, 24, 0, 24}));
  EXPECT_EQ(bind(verb::scan, 6).ends, (sizes{24, 24, 24, 24, 24, 24}));
  EXPECT_EQ(bind(verb::exclusive_scan, 6).ends, (sizes{24, 24, 24, 0, 24, 24}));
}

TEST(Extents, FollowThePieces) {
  bound const scattered = bind(verb::reduce_scatter, 6);
  EXPECT_EQ(scattered.begins, (sizes{0, 0, 0, 0, 8, 16}));
  EXPECT_EQ(scattered.ends, (sizes{24, 24, 24, 8, 16, 24}));
  bound const gathered = bind(verb::allgather, 6, {1, 0, 5});
  EXPECT_EQ(gathered.begins, (sizes{0, 4, 4, 0, 0, 0}));
  EXPECT_EQ(gathered.ends, (sizes{4, 4, 24, 24, 24, 24}));
}

TEST(Outputs, AreOneWhereThereIsAnythingToShare) {
  EXPECT_TRUE(bind(verb::reduce_shared, 1).plan->arrays.shares_outputs);
  EXPECT_FALSE(bind(verb::reduce_shared, 0).plan->arrays.shares_outputs);
  EXPECT_FALSE(bind(verb::allreduce, 1).plan->arrays.shares_outputs);
}

TEST(OwnInput, IsCopiedWhereItIsPartOfTheResult) {
  EXPECT_EQ(bind(verb::allgather, 6).plan->arrays.own, detail::own_copy::once_told);
  EXPECT_EQ(bind(verb::allgather, 6, {}, SIZE_MAX, 0, "direct", "zero_copy").plan->arrays.own, detail::own_copy::first);
  // What is passed on round after round is fetched from where it has come to.
  EXPECT_EQ(bind(verb::allgather, 6, {}, SIZE_MAX, 0, "ring", "zero_copy_pull").plan->arrays.own,
            detail::own_copy::first);
  EXPECT_EQ(bind(verb::reduce_scatter, 6).plan->arrays.own, detail::own_copy::none);
  EXPECT_EQ(bind(verb::allreduce, 6).plan->arrays.own, detail::own_copy::none);
}

/// All that a rank stages: in the line of its entry, in the one behind, or in pieces of staging.
TEST(SmallPayloads, TravelInTheLinesAsFarAsThereIsRoom) {
  for (verb const what : {verb::broadcast, verb::allreduce}) {
    for (std::size_t count = 1; count <= 40; ++count) {
      auto const plan = bind(what, count).plan;
      std::size_t const bytes = plan->code->layers * plan->bytes;
      ASSERT_GT(bytes, 0u);
      EXPECT_EQ(plan->code->storage.staging, bytes <= 40   ? program::home::entry_line
                                             : bytes <= 64 ? program::home::second_line
                                                           : program::home::pieces)
          << name_of(what) << " of " << plan->bytes << " bytes";
    }
  }
}

TEST(Segments, AreNotMadeWhereNobodyWantsThem) {
  for (std::size_t const count : {0u, 1u, 100'000u}) {
    bound const all = bind(verb::allreduce, count);
    EXPECT_EQ(all.plan->segments.number, 1u);
    EXPECT_EQ(all.plan->segments.count, count);
    EXPECT_EQ(all.plan->segments.last_layout.boundary.back(), count);
  }
}

void expect_to_cover(detail::plan_segments const& made, std::size_t count) {
  ASSERT_GT(made.number, 1u);
  EXPECT_EQ(made.count % 16, 0u) << "no whole lines";
  EXPECT_EQ(made.layout.boundary.back(), made.count);
  std::size_t const last = made.last_layout.boundary.back();
  EXPECT_GT(last, 0u);
  EXPECT_LE(last, made.count);
  EXPECT_EQ((made.number - 1) * made.count + last, count);
}

TEST(Segments, AreAsLongAsWanted) {
  for (std::size_t const wanted : {64u, 4096u, 5000u, 100'000u}) {
    for (std::size_t const count : {30'000u, 25'600u, 100'001u}) {
      auto const plan = bind(verb::allreduce, count, {}, SIZE_MAX, wanted).plan;
      expect_to_cover(plan->segments, count);
      EXPECT_LE(plan->segments.count * sizeof(float), wanted);
      // As few as that allows, in whole lines.
      std::size_t const longest = wanted / 64 * 16;
      EXPECT_EQ(plan->segments.number, (count + longest - 1) / longest);
      EXPECT_NE(plan->words->choice.find(" segments"), std::string::npos);
    }
  }
  EXPECT_EQ(bind(verb::allreduce, 1000, {}, SIZE_MAX, 4000).plan->segments.number, 1u);
  EXPECT_EQ(bind(verb::allreduce, 17, {}, SIZE_MAX, 1).plan->segments.count, 16u) << "less than a line";
}

TEST(Segments, HaveRoomInStaging) {
  std::size_t const count = 100'000, needed = bind(verb::allreduce, count).plan->segments.layout.staging_bytes;
  EXPECT_EQ(bind(verb::allreduce, count, {}, needed).plan->segments.number, 1u);
  for (std::size_t const room : {needed - 1, needed / 2, std::size_t{65'536}}) {
    auto const plan = bind(verb::allreduce, count, {}, room).plan;
    expect_to_cover(plan->segments, count);
    EXPECT_LE(plan->segments.layout.staging_bytes, room);
    EXPECT_GT(plan->segments.layout.staging_bytes, room / 4) << "much shorter than there is room for";
    // What is wanted shorter stays so.
    auto const shorter = bind(verb::allreduce, count, {}, room, 4096).plan;
    EXPECT_LE(shorter->segments.count, 1024u);
  }
}

TEST(Segments, AreCutOutOfEachOfEqualPieces) {
  std::size_t const each = 10'000;
  auto const plan = bind(verb::allgather, ranks * each, {}, SIZE_MAX, ranks * 4096).plan;
  EXPECT_EQ(plan->segments.count, 1008u);
  EXPECT_EQ(plan->segments.number, 10u);
  EXPECT_EQ(plan->segments.layout.boundary, (sizes{0, 1008, 2016, 3024}));
  EXPECT_EQ(plan->segments.last_layout.boundary.back(), ranks * (each - 9 * 1008));
  // In arrays a segment's blocks lie as far apart as the pieces, in staging side by side.
  for (auto const* made : {&plan->segments.layout, &plan->segments.last_layout}) {
    EXPECT_EQ(made->offset[1], each * sizeof(float));
    EXPECT_EQ(made->offset[2], 2 * each * sizeof(float));
    EXPECT_EQ(made->offset[ranks + 1], made->boundary[1] * sizeof(float));
  }
  std::size_t const needed = bind(verb::allgather, ranks * each).plan->segments.layout.staging_bytes;
  auto const short_of_room = bind(verb::allgather, ranks * each, {}, needed / 3).plan;
  EXPECT_GT(short_of_room->segments.number, 2u);
  EXPECT_LE(short_of_room->segments.layout.staging_bytes, needed / 3);
}

/// Red if segments of large elements are whole lines of them, for which there is no room, or longer than the vector.
TEST(Segments, AreOfFewerElementsThanLinesHaveWhereElementsAreLarge) {
  struct large {
    std::array<double, 1025> values;
    bool operator==(large const&) const = default;
  };
  struct first {
    large operator()(large const& a, large const&) const { return a; }
  };
  programs known;
  detail::call const c{.what = verb::allreduce, .count = 5, .reduction = &detail::table_of<large, first>()};
  signature const s{c.what, c.reduction, c.count, 0, false, 0, counts_hash({})};
  auto const made = [&](std::size_t room, std::size_t wanted) {
    return bind_plan(three_ranks(room), known, s, c, {{"direct", {}}, {}, wanted});
  };
  auto const whole = made(SIZE_MAX, 0);
  auto const in_lines = made(SIZE_MAX, 64);
  EXPECT_EQ(in_lines->segments.number, 1u);
  EXPECT_EQ(in_lines->candidacy.most_staging, whole->candidacy.most_staging);
  auto const cramped = made(whole->candidacy.most_staging / 2, 0);
  EXPECT_GE(cramped->segments.number, 3u);
  EXPECT_LE(cramped->candidacy.most_staging, whole->candidacy.most_staging / 2);
}

/// Rank 0 stages what it gives ranks 1 and 2 in one instruction, and segments of both are no run of elements. Where they are exchanged
/// each is an instruction by itself.
TEST(Segments, AreNotCutWherePiecesMoveTogether) {
  auto const segments = [](char const* storage) {
    return bind(verb::reduce_scatter, 30'000, {}, SIZE_MAX, ranks * 4096, "direct", storage).plan->segments.number;
  };
  EXPECT_EQ(segments("staged+return"), 1u);
  EXPECT_EQ(segments("staged"), 10u);
}

TEST(Exchange, IsOfLongBlocksWithRoomAlone) {
  auto const exchanges = [](std::size_t count, std::size_t room) {
    return bind(verb::reduce_scatter, count, {}, room).plan->code->storage.exchanges;
  };
  EXPECT_FALSE(exchanges(ranks * 255, SIZE_MAX));
  EXPECT_TRUE(exchanges(ranks * 256, SIZE_MAX));
  EXPECT_TRUE(exchanges(30'000, 240'000));
  EXPECT_FALSE(exchanges(30'000, 239'999));
}

TEST(Segments, AreNotForPiecesOfDifferentLengths) {
  std::vector<std::size_t> const counts{10'000, 9'999, 10'001};
  for (verb const what : {verb::reduce_scatter, verb::allgather}) {
    std::size_t const count = 30'000, little_room = 200'000;  // so that nothing is exchanged
    std::size_t const needed = bind(what, count, counts, little_room).plan->segments.layout.staging_bytes;
    EXPECT_EQ(bind(what, count, counts, needed, 64).plan->segments.number, 1u);
    try {
      (void)bind(what, count, counts, needed - 1);
      ADD_FAILURE() << name_of(what);
    } catch (lacks_staging const& e) {
      EXPECT_NE(std::string(e.what()).find("needs " + std::to_string(needed) + " bytes of staging"), std::string::npos);
    }
  }
}

TEST(Plans, HaveNumbersOfTheirOwn) {
  auto const one = bind(verb::allreduce, 6).plan, other = bind(verb::allreduce, 6).plan;
  EXPECT_NE(one->id, other->id);
  EXPECT_EQ(one->hash, other->hash);
}

}  // namespace
}  // namespace coset::planning
