// SPDX-License-Identifier: Apache-2.0
// What coset info warns of, on machines made up for it.
#include "command/inspect/info_placement.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace coset::cli {
namespace {

topology const machine = topology::synthetic("node:2 core:2 pu:2");  // processors 0-7, two a core

std::vector<std::string> warnings(rank_t ranks, placement_findings const& found) {
  return placement_warnings(machine.place(ranks, placement::compact), found);
}

TEST(PlacementWarnings, AreNoneWhereEveryRankHasACoreAndStays) {
  EXPECT_TRUE(warnings(4, {.usable = 8, .seen = {0, 2, 4, 6}}).empty());
}

TEST(PlacementWarnings, TellWhoSharesACore) {
  auto const found = warnings(5, {.usable = 8, .seen = {0, 1, 2, 4, 6}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].find("ranks 0-1 on core 0"), std::string::npos) << found[0];
  EXPECT_EQ(found[0].find("core 1"), std::string::npos) << found[0];
}

TEST(PlacementWarnings, TellOfAMaskOrQuotaSmallerThanTheTeam) {
  auto const found = warnings(4, {.usable = 3, .seen = {0, 2, 4, 6}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].find("let only 3 of 4 ranks run at a time"), std::string::npos) << found[0];
}

TEST(PlacementWarnings, TellWhomTheKernelHasMoved) {
  auto const found = warnings(4, {.usable = 8, .seen = {0, 3, 4, 6}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].find("rank 1 on processor 3 instead of 2"), std::string::npos) << found[0];
  EXPECT_EQ(found[0].find("rank 0"), std::string::npos) << found[0];
}

TEST(PlacementWarnings, SayThatUnpinnedRanksMove) {
  auto const found = warnings(4, {.usable = 8, .pinned = false});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].find("not pinned"), std::string::npos) << found[0];
}

TEST(PlacementWarnings, StayShortOnLargeMachines) {
  auto const large = topology::synthetic("core:64 pu:2");
  auto const found = placement_warnings(large.place(128, placement::compact), {.usable = 128, .pinned = false});
  EXPECT_NE(found[0].find("and 60 more"), std::string::npos) << found[0];
}

TEST(PlacementTree, PutsNeighboursThatLookAlikeOnOneLine) {
  auto const large = topology::synthetic("pack:2 node:4 l3:2 core:8 pu:2");
  EXPECT_EQ(placement_tree(large, large.place(128, placement::compact)),
            "packages 0-1: ranks 0-127\n"
            "  nodes 0-7, 4 in each: ranks 0-127\n"
            "    L3s 0-15, 2 in each: ranks 0-127\n"
            "      cores 0-127, 8 in each: ranks 0-127\n");
}

TEST(PlacementTree, KeepsApartWhatDiffers) {
  auto const with_l3 = topology::synthetic("node:2 l3:1 core:2 pu:2");
  EXPECT_EQ(placement_tree(with_l3, with_l3.place(5, placement::scatter)),
            "package 0: ranks 0-4\n"
            "  node 0: ranks 0-4 by 2\n"
            "    L3 0: ranks 0-4 by 2\n"
            "      core 0: ranks 0 4, 2 share it\n"
            "      core 1: rank 2\n"
            "  node 1: ranks 1 3\n"
            "    L3 1: ranks 1 3\n"
            "      cores 2-3: ranks 1 3\n");
}

TEST(PlacementTree, NamesANodeOnceThatSpansPackages) {
  auto const one = topology::synthetic("node:1 pack:4 core:2 pu:1"),
             two = topology::synthetic("node:2 pack:2 core:2 pu:1");
  EXPECT_EQ(placement_tree(one, one.place(8, placement::compact)),
            "packages 0-3: ranks 0-7\n"
            "  node 0: ranks 0-7\n"
            "    cores 0-7, 2 in each: ranks 0-7\n");
  EXPECT_EQ(placement_tree(two, two.place(8, placement::compact)),
            "packages 0-3: ranks 0-7\n"
            "  nodes 0-1, 1 in each: ranks 0-7\n"
            "    cores 0-7, 2 in each: ranks 0-7\n");
}

TEST(Placement, SpeaksOfNoL3WhereThereIsNone) {
  auto const places = machine.place(4, placement::compact);
  EXPECT_EQ(placement_tree(machine, places).find("L3"), std::string::npos);
  EXPECT_EQ(placement_table(machine, places).as_text().find("L3"), std::string::npos);
  auto const json = placement_json(machine, places);
  EXPECT_TRUE(json["placement"][0]["l3"].is_null());
  EXPECT_EQ(json["tree"][0]["nodes"][0]["cores"][1]["ranks"], nlohmann::ordered_json({1}));

  auto const with_l3 = topology::synthetic("node:2 l3:1 core:2 pu:2");
  EXPECT_EQ(placement_json(with_l3, with_l3.place(4, placement::compact))["placement"][3]["l3"], 1);
}

TEST(PlacementTree, ShowsCoresWithoutRanks) {
  auto const text = placement_tree(machine, machine.place(1, placement::compact));
  EXPECT_NE(text.find("    core 0: rank 0\n    core 1: no ranks\n"), std::string::npos) << text;
}

TEST(PlacementSeen, IsWhereTheRanksWerePinned) {
  auto const here = topology::machine();
  auto const places = here.place(here.cores(), placement::compact);
  auto const seen = processors_seen(here, places, placement::compact);
  ASSERT_EQ(seen.size(), places.size());
  for (rank_t r = 0; r < places.size(); ++r) EXPECT_EQ(seen[r], places[r].os_index) << "rank " << r;
}

}  // namespace
}  // namespace coset::cli
