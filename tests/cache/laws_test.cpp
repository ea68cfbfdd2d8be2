// SPDX-License-Identifier: Apache-2.0
// Times that one can compute by hand: one line, one link, one barrier.
#include <gtest/gtest.h>

#include "coset/error.hpp"
#include "scripts.hpp"

namespace coset::cache {
namespace {

using namespace testing;

constexpr double ns = 1e-9, tiny = 1e-15;
constexpr auto l3 = static_cast<std::size_t>(level::l3), beyond = static_cast<std::size_t>(level::machine);

/// An array of so many bytes that rank `home` writes before each call.
std::uint32_t add_array(work& w, rank_t home, std::uint32_t bytes) {
  auto const cell = static_cast<std::uint32_t>(w.cells.size());
  w.cells.push_back({bytes / 64, home});
  w.writes_input[home].fold({}, {{cell, 1}});
  return cell;
}

TEST(Lines, AReadTakesTheLatencyOfTheLevelBetween) {
  costs c = free_of_charge();
  c.line[l3].read = 20 * ns;
  c.line[beyond].read = 200 * ns;
  machine const m = machine_like("package:2 numa:1 l3:1 core:2 pu:1", c);
  for (rank_t const reader : {1, 2}) {
    work w = idle_work(4);
    auto const array = add_array(w, 0, 64);
    w.call[0][reader].fold({{array, 1}}, {});
    auto const found = call_of(m, w);
    EXPECT_NEAR(found.last, (reader == 1 ? 20 : 200) * ns, tiny);
    EXPECT_EQ(found.lines[reader == 1 ? l3 : beyond], 1u);
  }
}

TEST(Lines, AWaitingRankSeesAPostAfterOwningAndReading) {
  costs c = free_of_charge();
  c.line[l3] = {20 * ns, 7 * ns, 0};
  machine const m = machine_like("core:2 pu:1", c);
  work w = idle_work(2);
  w.call[0][0].acts = {post(0, 1)};
  w.call[0][1].acts = {look(0, 1)};
  EXPECT_NEAR(call_of(m, w).last, 27 * ns, tiny);  // the reader of the last call's value has to lose it first
}

TEST(Lines, AWriterWaitsForTheFarthestReader) {
  costs c = free_of_charge();
  c.line[l3].own = 7 * ns;
  c.line[beyond].own = 100 * ns;
  machine const m = machine_like("package:2 numa:1 l3:1 core:2 pu:1", c);
  work w = idle_work(4);
  w.call[0][0].acts = {post(0, 1)};
  w.call[0][1].acts = {look(0, 1)};
  EXPECT_NEAR(call_of(m, w).last, 7 * ns, tiny);
  w.call[0][3].acts = {look(0, 1)};
  EXPECT_NEAR(call_of(m, w).last, 100 * ns, tiny);
}

TEST(Lines, ReadersOfOneLineAreServedOneAfterTheOther) {
  costs c = free_of_charge();
  c.line[l3] = {20 * ns, 0, 5 * ns};
  for (rank_t const ranks : {2u, 5u, 9u}) {
    machine const m = machine_like("core:" + std::to_string(ranks) + " pu:1", c);
    work w = idle_work(ranks);
    w.call[0][0].acts = {post(0, 1)};
    for (rank_t r = 1; r < ranks; ++r) w.call[0][r].acts = {look(0, 1)};
    auto const found = call_of(m, w);
    // Before the post all have looked in vain, which served them, too, and put the post off.
    EXPECT_NEAR(found.last, 20 * ns + (ranks - 2) * 5 * ns, tiny) << ranks;
  }
}

TEST(Lines, OneCopyCrossesToAnL3AndServesTheOthersThere) {
  costs c = free_of_charge();
  c.line[l3] = {20 * ns, 0, 0};
  c.line[beyond] = {200 * ns, 0, 200 * ns};
  machine const m = machine_like("package:2 numa:1 l3:1 core:4 pu:1", c);
  work w = idle_work(8);
  auto const array = add_array(w, 0, 64);
  for (rank_t r = 4; r < 8; ++r) w.call[0][r].fold({{array, 1}}, {});
  auto const found = call_of(m, w);
  EXPECT_NEAR(found.last, 220 * ns, tiny);
  EXPECT_EQ(found.lines[beyond], 1u);
  EXPECT_EQ(found.lines[l3], 3u);
}

TEST(Lines, WhoeverReadsWhatAnotherHasWrittenMayStoreIntoItIfLinesAreHandedOver) {
  costs c = free_of_charge();
  c.line[l3] = {20 * ns, 7 * ns, 0};
  for (bool const hands_over : {false, true}) {
    c.hands_over = hands_over ? 1 : 0;
    machine const other = machine_like("core:2 pu:1", c);
    work w = idle_work(2);
    auto const array = add_array(w, 0, 64);
    w.call[0][1].fold({{array, 1}}, {{array, 1}});
    w.call[0][1].acts.push_back(post(1, 1));
    w.call[0][0].acts = {look(1, 1)};
    // After the read, the store and the post become visible, one after the other; the reader of the flag gets it then.
    EXPECT_NEAR(call_of(other, w).last, (hands_over ? 20 + 7 + 20 : 20 + 7 + 7 + 20) * ns, tiny) << hands_over;
  }
}

TEST(Lines, LooksOfOneCoreOverlapUnlessOneIsInVain) {
  costs c = free_of_charge();
  c.line[l3].read = 20 * ns;
  c.looks = 4;
  machine const m = machine_like("core:4 pu:1", c);
  work w = idle_work(4);
  for (rank_t q = 1; q < 4; ++q) w.call[0][q].acts = {post(q, 1)};
  auto& reader = w.call[0][0].acts;
  // The first is not there yet in the very first instant; what comes then is.
  reader = {look(1, 1), look(2, 1), look(3, 1)};
  EXPECT_NEAR(call_of(m, w).last, (20 + 20 + 5) * ns, tiny);
}

/// Whether a rank waits for a line or comes just too late to: nothing is gained by having had more to do before.
TEST(Lines, WhoComesLaterIsNeverDoneSooner) {
  costs c = free_of_charge();
  c.line[l3] = {20 * ns, 7 * ns, 0};
  c.act = 3 * ns;
  c.looks = 4;
  c.link[static_cast<std::size_t>(link_kind::core)] = 64e9;  // a line of one's own each ns
  machine const m = machine_like("core:3 pu:1", c);
  double before = 0;
  for (std::uint32_t lines = 1; lines < 120; ++lines) {
    work w = idle_work(3);
    auto const made = add_array(w, 0, 40 * 64), own = add_array(w, 1, lines * 64);
    w.call[0][0].fold({{made, 1}}, {{made, 1}});
    w.call[0][0].acts.push_back(post(0, 1));
    w.call[0][2].acts = {post(2, 1)};
    w.call[0][1].fold({{own, 1}}, {{own, 1}});
    w.call[0][1].acts.push_back(look(0, 1));
    w.call[0][1].acts.push_back(look(2, 1));
    double const now = call_of(m, w).last;
    EXPECT_GE(now, before - tiny) << lines;
    before = now;
  }
}

TEST(Links, ACopyTakesItsBytesOverTheBandwidth) {
  costs c = free_of_charge();
  c.link[static_cast<std::size_t>(link_kind::package)] = 1e9;
  machine const m = machine_like("package:2 numa:1 l3:1 core:2 pu:1", c);
  work w = idle_work(4);
  auto const array = add_array(w, 0, 64000);
  w.call[0][2].fold({{array, 1}}, {});
  EXPECT_NEAR(call_of(m, w).last, 64000 * ns, 64 * ns);
}

TEST(Links, TwoThatCrossOneLinkShareIt) {
  costs c = free_of_charge();
  c.link[static_cast<std::size_t>(link_kind::package)] = 1e9;
  machine const m = machine_like("package:2 numa:1 l3:1 core:2 pu:1", c);
  work w = idle_work(4);
  auto const first = add_array(w, 0, 64000), second = add_array(w, 1, 64000);
  w.call[0][2].fold({{first, 1}}, {});
  w.call[0][3].fold({{second, 1}}, {});
  auto const found = call_of(m, w);
  EXPECT_NEAR(found.last, 128000 * ns, 64 * ns);
  EXPECT_GE(found.mean, 0.45 * 128000 * ns);  // of four ranks two take part, and neither overtakes the other
  // The other way round nothing is shared.
  work apart = idle_work(4);
  auto const there = add_array(apart, 0, 64000), back = add_array(apart, 2, 64000);
  apart.call[0][2].fold({{there, 1}}, {});
  apart.call[0][0].fold({{back, 1}}, {});
  EXPECT_NEAR(call_of(m, apart).last, 64000 * ns, 64 * ns);
}

TEST(Links, ACoreHasSoManyLinesOnTheirWay) {
  costs c = free_of_charge();
  c.line[l3].read = 20 * ns;
  c.streams = 10;
  machine const m = machine_like("core:2 pu:1", c);
  work w = idle_work(2);
  auto const array = add_array(w, 0, 6400);
  w.call[0][1].fold({{array, 1}}, {});
  EXPECT_NEAR(call_of(m, w).last, (20 + 100 * 2) * ns, tiny);
}

TEST(Links, ACoreTakesFewerLinesAtOnceToStoreIntoThemIfTheyHaveBeenRead) {
  costs c = free_of_charge();
  c.line[l3].own = 20 * ns;
  c.streams = 10;
  c.stores = 2;
  c.hands_over = 0;
  machine const m = machine_like("core:2 pu:1", c);
  work read = idle_work(2);
  auto const shared = add_array(read, 0, 6400);
  read.call[0][1].fold({{shared, 1}}, {{shared, 1}});
  EXPECT_NEAR(call_of(m, read).last, 100 * 10 * ns, tiny);  // nobody waits for the last one
  work written = idle_work(2);
  auto const array = add_array(written, 0, 6400);
  written.call[0][1].fold({}, {{array, 1}});
  EXPECT_NEAR(call_of(m, written).last, 100 * 2 * ns, tiny);
  work own = idle_work(2);
  auto const mine = add_array(own, 1, 6400);
  own.call[0][1].fold({}, {{mine, 1}});
  EXPECT_NEAR(call_of(m, own).last, 0, tiny);
}

TEST(Links, WhatExceedsTheCachesSharesItsNodesMemory) {
  costs c = free_of_charge();
  c.link[static_cast<std::size_t>(link_kind::memory)] = 1e9;
  machine const m = machine_like("numa:2 core:2 pu:1", c);
  work w = idle_work(4);
  w.array_bytes = 1u << 30;
  auto const first = add_array(w, 0, 64000), second = add_array(w, 1, 64000), far = add_array(w, 2, 64000);
  w.call[0][0].fold({{first, 1}}, {});
  w.call[0][1].fold({{second, 1}}, {});
  w.call[0][2].fold({{far, 1}}, {});
  auto const found = call_of(m, w);
  EXPECT_NEAR(found.last, 128000 * ns, 64 * ns);
  EXPECT_EQ(found.memory_lines, 3000u);
}

TEST(Barrier, AtomicIncrementsGoFromCoreToCore) {
  costs c = free_of_charge();
  c.line[l3] = {20 * ns, 20 * ns, 0};
  machine const m = machine_like("core:4 pu:1", c);
  work w = idle_work(4);
  for (rank_t r = 0; r < 4; ++r) w.call[0][r].acts = {{.what = act_kind::count, .line = 0, .value = 1}, look(1, 1)};
  // Four increments, each by another core than the one before; then the last one's post reaches those that wait.
  EXPECT_NEAR(call_of(m, w).last, (4 * 20 + 20 + 20) * ns, tiny);
}

TEST(Simulation, RanksThatWaitForEverAreAnError) {
  machine const m = machine_like("core:2 pu:1", costs());
  work w = idle_work(2);
  w.call[0][1].acts = {look(0, 1)};
  EXPECT_THROW(call_of(m, w), schedule_error);
  work few = idle_work(1);
  EXPECT_THROW(call_of(m, few), argument_error);
}

TEST(Costs, AreSetByNameAndRefusedByName) {
  costs c;
  for (std::string const& name : names_of_costs()) {
    set(c, name, 0.5);
    EXPECT_EQ(get(c, name), 0.5) << name;
  }
  EXPECT_THROW(set(c, "l4.read", 1), argument_error);
  EXPECT_THROW(set(c, "l3.read", -1), argument_error);
  EXPECT_THROW(set(c, "l3.link", 0), argument_error);
}

}  // namespace
}  // namespace coset::cache
