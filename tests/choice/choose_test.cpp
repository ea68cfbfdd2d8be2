// SPDX-License-Identifier: Apache-2.0
#include "planning/choice/choose.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <tuple>
#include <vector>

#include "effort.hpp"
#include "planning/choice/price.hpp"
#include "planning/plan/call_choice.hpp"
#include "planning/program/program.hpp"
#include "planning/schedule/core/validate.hpp"
#include "planning/schedule/registry/algorithm.hpp"

namespace coset::choice {
namespace {

constexpr std::array verbs{verb::allreduce,      verb::reduce_shared, verb::allreduce_view, verb::reduce,
                           verb::reduce_scatter, verb::allgather,     verb::broadcast,      verb::scan,
                           verb::exclusive_scan, verb::barrier};

TEST(Choose, TakesPlansThatAreValidKeepTheOrderWhereNeededAndGiveTheSameBits) {
  rank_t const stride = test::by_effort<rank_t>(13, 5, 1);
  test::sample cases(1, 7);
  rank_t first = 0;
  for (verb const what : verbs) {
    for (rank_t ranks = 1 + first++ % stride; ranks <= 48; ranks += stride) {
      for (std::size_t bytes = 1; bytes < std::size_t{1} << 30; bytes *= 8) {
        for (bool const commutative : {true, false}) {
          if (cases.skips()) continue;
          auto const chosen = choose({.what = what, .ranks = ranks, .bytes = bytes, .commutative = commutative});
          auto const plan = schedule::make(chosen.algorithm, ranks, choice::schedule_of(what), ranks / 2);
          auto const found = schedule::validate(plan);
          EXPECT_TRUE((found.ordered || commutative) && found.rank_uniform)
              << chosen.algorithm.text() << " of " << name_of(what) << " on " << ranks;
        }
      }
    }
  }
}

/// As wide as elements and wider. Red if a verb goes through outputs in which others' values would be lost.
TEST(Choose, TakesStoragesThatLoseNoValue) {
  rank_t const most = test::by_effort<rank_t>(9, 16, 40);
  test::sample cases(1, 3);
  for (verb const what : all_verbs())
    for (rank_t ranks = 1; ranks <= most; ++ranks)
      for (std::size_t bytes = 8; bytes <= std::size_t{64} << 20; bytes *= 8) {
        if (cases.skips()) continue;
        auto chosen = choose({.what = what, .ranks = ranks, .bytes = bytes});
        auto const made = schedule::make(chosen.algorithm, ranks, choice::schedule_of(what), ranks / 2);
        for (bool const widens : {false, true}) {
          chosen.storage.widens = widens;
          EXPECT_NO_THROW(program::compile(made, chosen.storage))
              << chosen.algorithm.text() << "/" << program::policy_name(chosen.storage) << " of " << name_of(what)
              << ", " << bytes << " bytes on " << ranks;
        }
      }
}

TEST(Choose, ReadsFromNoMoreThanSixteenRanksAtOnceWhereRanksHaveFactors) {
  for (rank_t const ranks : {9u, 12u, 16u, 24u, 48u, 64u, 96u, 128u, 192u}) {
    for (std::size_t const bytes : {std::size_t{8}, std::size_t{64} << 10, std::size_t{16} << 20}) {
      auto const chosen = choose({.ranks = ranks, .bytes = bytes});
      auto const plan = schedule::make(chosen.algorithm, ranks);
      EXPECT_LE(schedule::validate(plan).fan_in, 16u) << chosen.algorithm.text() << " on " << ranks;
    }
  }
}

std::string allreduce_on(std::string const& machine, std::size_t bytes, rank_t ranks = 0) {
  auto const found = topology::synthetic(machine);
  auto const places = found.place(ranks == 0 ? found.cores() : ranks, placement::compact);
  question q{.ranks = static_cast<rank_t>(places.size()), .bytes = bytes};
  put_on_levels(q, places);
  return choose(q).algorithm.text();
}

TEST(Choose, StaysInsideCachesAndNodesAsLongAsItCan) {
  std::string const epyc = "package:1 l3:24 core:8 pu:1", two_sockets = "package:2 numa:1 l3:1 core:64 pu:2";
  EXPECT_EQ(allreduce_on(epyc, 64), "product(dims=8x6x4,saved_steps=3)");
  EXPECT_EQ(allreduce_on(epyc, 1 << 20), "product(dims=8x6x4,saved_steps=0)");
  EXPECT_EQ(allreduce_on(two_sockets, 1 << 20), "product(dims=8x8x2,saved_steps=1)");  // 8 KiB from the other socket
  EXPECT_EQ(allreduce_on("package:1 l3:4 core:6 pu:1", 1 << 20), "product(dims=6x4,saved_steps=0)");
  EXPECT_EQ(allreduce_on("package:1 l3:4 core:6 pu:1", 1 << 20, 12), "product(dims=6x2,saved_steps=0)");
  EXPECT_EQ(allreduce_on("package:1 l3:2 core:4 pu:1", 1 << 20), "direct");  // few
  EXPECT_EQ(allreduce_on("core:74 pu:1", 4096), "tower(factors=37x2,radix=8,saved_steps=1)");
}

TEST(Levels, AreThoseWithGroupsOfOneSize) {
  auto const levels = [](std::string const& machine, rank_t ranks, placement how) {
    auto const on = levels_of(topology::synthetic(machine).place(ranks, how));
    return groups_of({.ranks = ranks, .levels = std::make_shared<schedule::level_machine const>(on)});
  };
  std::string const machine = "package:2 numa:2 l3:2 core:4 pu:1";
  EXPECT_EQ(levels(machine, 32, placement::compact), (std::vector<rank_t>{4, 8, 16}));
  EXPECT_EQ(levels(machine, 16, placement::compact), (std::vector<rank_t>{4, 8}));
  EXPECT_EQ(levels(machine, 18, placement::compact), (std::vector<rank_t>{}));
  EXPECT_EQ(levels(machine, 32, placement::scatter), (std::vector<rank_t>{}));
  EXPECT_EQ(levels("core:4 pu:1", 4, placement::compact), (std::vector<rank_t>{}));
}

constexpr std::size_t mebibyte = 1 << 20;

std::string storage(question const& q) { return program::policy_name(choose(q).storage); }

question allreduce_of(std::size_t bytes) {
  return {.ranks = 2, .bytes = bytes, .memory = {12 * mebibyte, 2 * mebibyte, 10 * mebibyte}};
}

/// Red if results are stored into others' lines where cores may be apart.
TEST(Choose, FoldsInItsOwnOutputUpToWhatCachesHold) {
  EXPECT_EQ(storage(allreduce_of(mebibyte / 2)), "output");
  EXPECT_EQ(storage(allreduce_of(7 * mebibyte)), "output");
  auto crowd = allreduce_of(mebibyte / 2);
  crowd.crowded = true;
  crowd.ranks = 3;
  EXPECT_EQ(storage(crowd), "output");
}

/// Its owners store what the root would fetch alone, once they are many, or where that takes long.
TEST(Choose, LetsOwnersStoreWhatTheRootOfAGatherWouldFetchForLong) {
  auto const gather_on = [](rank_t ranks, std::size_t bytes) {
    auto q = allreduce_of(bytes);
    q.what = verb::gather;
    q.ranks = ranks;
    return storage(q);
  };
  EXPECT_EQ(gather_on(2, 4 * mebibyte), "zero_copy");
  EXPECT_EQ(gather_on(24, mebibyte), "zero_copy");
  EXPECT_EQ(gather_on(2, 64 * mebibyte), "zero_copy+stream");
  EXPECT_EQ(gather_on(24, 64 * mebibyte), "zero_copy+stream");
  // Owners of short pieces need not wait for the root.
  EXPECT_EQ(gather_on(2, 2), "staged_pull");
  EXPECT_EQ(gather_on(8, 4096), "staged_pull");
  EXPECT_EQ(gather_on(16, 1024), "staged_pull");
  EXPECT_EQ(gather_on(24, 192), "staged_pull");
}

/// Of two ranks of cores that hand lines over: they go back to their owners, unless each reader stages as much in return.
std::vector<std::pair<verb, std::string>> const storages_of_two{
    {verb::reduce, "staged+return"}, {verb::reduce_scatter, "staged"},  {verb::allgather, "staged"},
    {verb::scan, "staged+return"},   {verb::gather, "staged+return"},   {verb::scatter, "staged+return"},
    {verb::all_to_all, "staged"},    {verb::broadcast, "staged+return"}};

/// What two ranks have been measured with, near and apart. Red if lines of staging do not go back to their owners where that pays.
TEST(Choose, TwoRanksReturnLinesOfStaging) {
  auto const of_two = [](verb what, std::size_t bytes) {
    auto q = allreduce_of(bytes);
    q.what = what;
    return q;
  };
  for (auto const& [what, wanted] : storages_of_two) {
    EXPECT_EQ(storage(of_two(what, 1 << 10)), "staged_pull") << name_of(what);
    for (std::size_t const bytes : {4 << 10, 16 << 10, 256 << 10, 512 << 10}) {
      if (what == verb::gather && bytes <= 8 << 10) continue;  // whose root has lines back in time
      auto q = of_two(what, bytes);
      EXPECT_EQ(storage(q), wanted) << name_of(what) << ", " << bytes;
      q.crowded = true;
      EXPECT_NE(storage(q), "staged+return") << name_of(what) << ", " << bytes;
    }
  }
  // An allreduce of two does so anyway.
  EXPECT_EQ(storage(of_two(verb::allreduce, 64 << 10)), "staged");
  EXPECT_EQ(storage(of_two(verb::gather, 4 << 20)), "zero_copy");
  EXPECT_EQ(storage(of_two(verb::scan, 4 << 20)), "output");
  auto three = of_two(verb::broadcast, 64 << 10);
  three.ranks = 3;
  EXPECT_EQ(storage(three), "staged+return");
}

/// Where a reader's store into what it has read takes as long as the owner's, as Intel's cores need. Red if the fact has no say, if
/// it has one in the bracketing, or if a learner could not try the other storage.
TEST(Choose, RanksStageWithoutReturnWhereLinesAreNotHandedOver) {
  for (auto const& [what, handing_over] : storages_of_two) {
    for (std::size_t const bytes : {16 << 10, 256 << 10}) {
      auto q = allreduce_of(bytes);
      q.what = what;
      auto const handed_over = choose(q);
      q.memory.hands_over = false;
      auto const chosen = choose(q);
      EXPECT_EQ(program::policy_name(chosen.storage), "staged") << name_of(what) << ", " << bytes;
      EXPECT_EQ(chosen.algorithm, handed_over.algorithm);
      std::vector<std::string> tried;
      for (auto const& each : alternatives(q, chosen)) tried.push_back(program::policy_name(each));
      bool const may_return = handing_over == "staged+return";
      EXPECT_EQ(std::ranges::count(tried, "staged+return"), may_return) << name_of(what) << ", " << bytes;
    }
  }
}

TEST(Choose, StreamsWhatAllTogetherExceedsTheCaches) {
  EXPECT_EQ(storage(allreduce_of(8 * mebibyte)), "zero_copy+stream");
  EXPECT_NE(storage(allreduce_of(7 * mebibyte)), "zero_copy+stream");
  auto two_of_many = allreduce_of(64 * mebibyte);  // which reach no more than their own
  two_of_many.memory.last_cache_bytes = 640 * mebibyte;
  EXPECT_EQ(storage(two_of_many), "zero_copy+stream");
  auto reduce = allreduce_of(8 * mebibyte);  // one output less
  reduce.what = verb::reduce;
  EXPECT_NE(storage(reduce), "zero_copy+stream");
}

TEST(Choose, TheMachineNeverMakesAnotherBracketing) {
  test::sample cases(3, 13);
  for (verb const what : verbs)
    for (rank_t const ranks : {2u, 3u, 7u, 8u, 12u, 17u, 31u})
      for (std::size_t bytes = 8; bytes < std::size_t{1} << 28; bytes *= 4) {
        if (cases.skips()) continue;
        question q{.what = what, .ranks = ranks, .bytes = bytes};
        auto const plain = choose(q).algorithm;
        using facts = calibration::memory_facts;
        for (facts const& each :
             {facts{mebibyte, mebibyte, mebibyte}, facts{1000 * mebibyte, 4 * mebibyte, 0},
              facts{.costs = {.round = 5e-6, .peer = 1e-9, .fetched = 1e-9, .copied = 1e-8, .regained = 0}}}) {
          q.memory = each;
          EXPECT_EQ(choose(q).algorithm, plain);
        }
      }
}

TEST(Choose, FewRanksBracketAlikeWhereverTheyRunAndWhateverArraysAreOne) {
  for (verb const what : {verb::allreduce, verb::reduce, verb::reduce_scatter})
    for (rank_t const ranks : {2u, 4u, 6u, 8u})
      for (std::size_t bytes = 8; bytes < std::size_t{1} << 28; bytes *= 4) {
        question q{.what = what, .ranks = ranks, .bytes = bytes};
        EXPECT_EQ(choose(q).algorithm.name, "direct");
        q.in_place = true;
        EXPECT_EQ(choose(q).algorithm.name, "direct");
        q.crowded = true;
        EXPECT_EQ(choose(q).algorithm.name, "direct");
        q.levels = std::make_shared<schedule::level_machine const>(usual_levels(ranks, {{ranks - 1, 1}}));
        EXPECT_EQ(choose(q).algorithm.name, "direct");
      }
}

TEST(Choose, NodesOfDifferentSizesLieInsidePackages) {
  std::vector<processor> places;
  for (unsigned node = 0; node < 4; ++node)
    for (unsigned core = 0; core < 2 + node % 2 * 2; ++core)
      places.push_back({.l3 = node, .node = node, .package = node / 2});
  auto const found = levels_of(places);
  ASSERT_EQ(found.levels(), 3u);
  EXPECT_EQ(found.domains().joining(0, 1), 0u);  // of one node
  EXPECT_EQ(found.domains().joining(0, 2), 1u);  // of one package
  EXPECT_EQ(found.domains().joining(0, 6), 2u);
  EXPECT_EQ(found.domains().sizes(0), (std::vector<rank_t>{2, 4, 2, 4}));
  EXPECT_EQ(found.domains().even_group(1), 6u);
  EXPECT_LT(found.costs().links[0].latency, found.costs().links[1].latency);
}

/// Of so many ranks few schedules are made, by their bounds: red if these bring up others than those that fold by node.
TEST(Choose, LargeNodesOfDifferentSizesAreFoldedByNode) {
  for (std::vector<rank_t> const& nodes : {std::vector<rank_t>{60, 70}, {120, 130}}) {
    question q{.ranks = nodes[0] + nodes[1], .bytes = 8192};
    q.levels = std::make_shared<schedule::level_machine const>(usual_levels(q.ranks, {nodes}));
    auto const chosen = choose(q);
    auto const machine = machine_of(q);
    for (auto const& [radix, saved] : {std::pair{"2", "0"}, {"2", "1"}, {"3", "0"}, {"3", "1"}}) {
      schedule::algorithm const by_node{
          "unequal", {{"nodes", schedule::value_of(nodes, '+')}, {"radix", radix}, {"saved_steps", saved}}};
      schedule::counts const work(schedule::make(by_node, q.ranks), machine);
      EXPECT_LE(chosen.seconds, work.seconds(8192) + price_of(q, chosen.storage).total() + 1e-12)
          << chosen.algorithm.text() << ", not " << by_node.text();
    }
  }
}

TEST(Choose, LinesThatAreNotHandedOverAreNeverReturned) {
  for (verb const what : all_verbs())
    for (rank_t const ranks : {2, 4})
      for (std::uint64_t const own : {std::uint64_t{0}, mebibyte, 2 * mebibyte})
        for (std::size_t bytes = 2 << 10; bytes <= 8 * mebibyte; bytes += bytes / 2) {
          question q{.what = what, .ranks = ranks, .bytes = bytes};
          q.memory.own_cache_bytes = own;
          q.memory.hands_over = false;
          EXPECT_FALSE(choose(q).storage.returns) << name_of(what) << ", " << ranks << " ranks, " << bytes;
        }
}

TEST(Choose, RootsAndCrowdsFoldMoreAlone) {
  auto const folds_alone = [](question const& q) { return choose(q).algorithm.text() == "direct(saved_steps=1)"; };
  EXPECT_TRUE(folds_alone({.what = verb::reduce, .ranks = 2, .bytes = 2 << 10}));
  EXPECT_TRUE(folds_alone({.what = verb::reduce, .ranks = 4, .bytes = 4 << 10}));
  EXPECT_TRUE(folds_alone({.what = verb::reduce, .ranks = 2, .bytes = 16 << 10}));
  EXPECT_FALSE(folds_alone({.what = verb::reduce, .ranks = 2, .bytes = 32 << 10}));
  EXPECT_FALSE(folds_alone({.what = verb::reduce, .ranks = 4, .bytes = 16 << 10}));
  EXPECT_FALSE(folds_alone({.ranks = 4, .bytes = 8 << 10}));
  EXPECT_TRUE(folds_alone({.ranks = 4, .bytes = 8 << 10, .crowded = true}));
  EXPECT_FALSE(folds_alone({.ranks = 8, .bytes = 8 << 10, .crowded = true}));
}

/// Red if segments outgrow the caches, are made for what fits there anyway, or change what blocks the operands are in.
TEST(Choose, StagesInSegmentsWhatCachesDoNotHold) {
  auto const segment = [](question const& q, char const* algorithm = "direct") {
    return staged_segment(q, {{algorithm, {}}, {}});
  };
  question q{.ranks = 2, .bytes = 16 * mebibyte};
  q.memory.own_cache_bytes = mebibyte;
  EXPECT_EQ(segment(q), 128u << 10);
  q.memory.own_cache_bytes = 2 * mebibyte;
  EXPECT_EQ(segment(q), 256u << 10);
  q.ranks = 64;  // each has something to fold
  EXPECT_EQ(segment(q), 64 * (16u << 10));
  EXPECT_EQ(segment(q, "generalized"), 0u);
  q.what = verb::allgather;
  EXPECT_NE(segment(q, "generalized"), 0u);
  q.bytes = 4 * mebibyte;
  EXPECT_EQ(segment(q), 0u);
  q.bytes = 16 * mebibyte;
  q.crowded = true;
  EXPECT_EQ(segment(q), 0u);
  q.crowded = false;
  q.memory.own_cache_bytes = 0;
  EXPECT_EQ(segment(q), 0u);
}

TEST(Classes, AreNarrowAndEndWhereChoicesChange) {
  for (std::size_t bytes = 0, before = 0; bytes <= 200'000; ++bytes) {
    std::size_t const end = class_end(bytes);
    ASSERT_TRUE(before <= end && bytes <= end && class_end(end) == end) << bytes;
    ASSERT_TRUE(end - bytes < 8 || (end - bytes) * 8 < bytes) << bytes;
    before = end;
  }
  for (std::size_t k = 3; k < 64; ++k)
    for (std::size_t const eighth : {0u, 1u, 4u, 7u}) {
      std::size_t const bound = (std::size_t{1} << k) / 8 * (8 + eighth);
      EXPECT_EQ(class_end(bound), k < 6 ? (bound + 7) / 8 * 8 : bound);
    }
}

/// Red if a length of its own is looked at where its class should be.
TEST(Classes, AreServedAlike) {
  for (verb const what : all_verbs())
    for (rank_t const ranks : {2u, 4u, 12u})
      for (std::size_t const bytes : {std::size_t{33}, std::size_t{1025}, std::size_t{33'000}, std::size_t{525'000}}) {
        auto const one = choose({.what = what, .ranks = ranks, .bytes = bytes});
        auto const longest = choose({.what = what, .ranks = ranks, .bytes = class_end(bytes)});
        EXPECT_TRUE(one.algorithm == longest.algorithm && one.storage == longest.storage)
            << name_of(what) << " of " << bytes << " on " << ranks;
      }
}

}  // namespace
}  // namespace coset::choice
