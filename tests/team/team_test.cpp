// SPDX-License-Identifier: Apache-2.0
// Teams that own their threads: how many, where they run, who may run them when.
#include <sched.h>

#include <cstdlib>
#include <latch>
#include <map>
#include <set>
#include <thread>

#include "numa/child.hpp"
#include "support/teams.hpp"
#include "team/team_state.hpp"
#include "variable.hpp"

namespace coset::team_test {
namespace {

/// The processors that the calling thread may run on.
std::set<unsigned> mask() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  std::set<unsigned> all;
  for (unsigned p = 0; p < CPU_SETSIZE; ++p) {
    if (CPU_ISSET(p, &set)) all.insert(p);
  }
  return all;
}

std::vector<std::set<unsigned>> masks(team& ranks) {
  std::vector<std::set<unsigned>> all(ranks.size());
  ranks.run([&](member& me) { all[me.rank()] = mask(); });
  return all;
}

TEST(Team, HasOneRankPerCoreUnlessToldOtherwise) {
  EXPECT_EQ(team().size(), topology::machine().cores());
  EXPECT_EQ(team({.ranks = 1}).size(), 1u);
}

TEST(Team, RunsTheBodyOnceOnEveryRankAndOnTheCallerAsRankZero) {
  team ranks(options_for(6));
  std::vector<int> calls(6, 0);
  std::vector<std::thread::id> threads(6);
  ranks.run([&](member& me) {
    EXPECT_EQ(me.size(), 6u);
    ++calls[me.rank()];
    threads[me.rank()] = std::this_thread::get_id();
  });
  EXPECT_EQ(calls, std::vector<int>(6, 1));
  EXPECT_EQ(threads[0], std::this_thread::get_id());
  EXPECT_EQ(std::set(threads.begin(), threads.end()).size(), 6u);
}

TEST(Team, PinsEveryRankToItsOwnProcessorAndRestoresTheCaller) {
  auto const before = mask();
  auto const machine = topology::machine();
  for (placement const how : {placement::compact, placement::scatter}) {
    auto const places = machine.place(machine.cores(), how);
    team ranks({.place = how});
    auto const found = masks(ranks);
    for (rank_t r = 0; r < ranks.size(); ++r) EXPECT_EQ(found[r], std::set{places[r].os_index}) << "rank " << r;
    EXPECT_EQ(mask(), before);
    EXPECT_THROW(ranks.run([](member&) { throw std::domain_error("leaves the mask"); }), std::domain_error);
    EXPECT_EQ(mask(), before);
  }
}

TEST(Team, TellsEveryRankItsNode) {
  auto const machine = topology::machine();
  auto const places = machine.place(machine.cores(), placement::compact);
  team ranks;
  ranks.run([&](member& me) { EXPECT_EQ(me.node(), places[me.rank()].node); });
}

TEST(Team, RunsOnTheProcessorsNamed) {
  auto const machine = topology::machine();
  unsigned const last = machine.processors.back().os_index;
  team ranks(team_options{.processors = {last}});
  EXPECT_EQ(masks(ranks), std::vector{std::set{last}});
}

TEST(Team, UnboundPinsNobody) {
  auto const before = mask();
  team ranks({.ranks = 3, .place = placement::unbound});
  for (auto const& found : masks(ranks)) EXPECT_EQ(found, before);
}

TEST(Team, PinsNobodyIfTheEnvironmentSaysSo) {
  EXPECT_TRUE(numa_test::in_child([] {
    setenv("COSET_BIND", "no", 1);
    auto const before = mask();
    team ranks({.ranks = 2 * topology::machine().cores()});
    expect_works(ranks);
    auto const found = masks(ranks);
    return found == std::vector(found.size(), before) && mask() == before;
  }));
}

TEST(Team, OfMoreRanksThanProcessorsSharesThemPinned) {
  auto const before = mask();
  auto const machine = topology::machine();
  auto const all = static_cast<rank_t>(machine.processors.size());
  for (placement const how : {placement::compact, placement::scatter}) {
    team ranks({.ranks = 2 * all + 1, .place = how});
    expect_works(ranks);
    std::map<std::set<unsigned>, rank_t> ranks_of;
    for (auto const& found : masks(ranks)) {
      EXPECT_EQ(found.size(), 1u);
      ++ranks_of[found];
    }
    EXPECT_EQ(ranks_of.size(), all);
    for (auto const& [processor, number] : ranks_of) EXPECT_TRUE(number == 2 || number == 3) << number;
    EXPECT_EQ(mask(), before);
  }
}

/// As patiently as the whole, however few they are: others want the same processors.
TEST(Team, PartsOfOneThatSharesProcessorsShareThem) {
  auto const all = static_cast<rank_t>(topology::machine().processors.size());
  team ranks({.ranks = 2 * all});
  ranks.run([&](member& me) {
    for (rank_t const colour : {me.rank() / 2, me.rank() % 2}) {
      auto const part = me.split(static_cast<int>(colour));
      EXPECT_TRUE(part.state().shared.kind.crowded) << "rank " << me.rank();
    }
  });
}

TEST(Team, OnProcessorsThatAreUnknownOrRepeatedIsRefusedNamingThem) {
  unsigned const known = topology::machine().processors.front().os_index;
  expect_everybody_threw<topology_error>({outcome_of([] { team(team_options{.processors = {99999}}); })}, {"99999"});
  expect_everybody_threw<topology_error>({outcome_of([&] {
                                           team(team_options{.processors = {known, known}});
                                         })},
                                         {std::to_string(known)});
  expect_everybody_threw<argument_error>({outcome_of([&] { team(team_options{.ranks = 7, .processors = {known}}); })},
                                         {"7", "1"});
}

TEST(Team, PlacedOnAnotherMachineWorksUnpinned) {
  auto const before = mask();
  team ranks(topology::synthetic("node:2 core:4 pu:1"), {.ranks = 8});
  expect_works(ranks);
  for (auto const& found : masks(ranks)) EXPECT_EQ(found, before);
  ranks.run([](member& me) { EXPECT_EQ(me.node(), me.rank() / 4); });
}

TEST(Run, InsideARunIsRefused) {
  team ranks(options_for(3));
  for (rank_t who = 0; who < 3; ++who) {
    auto const thrown = outcome_of([&] {
      ranks.run([&](member& me) {
        if (me.rank() == who) ranks.run([](member&) {});
      });
    });
    EXPECT_EQ(thrown.type, type_name<argument_error>()) << thrown.message;
    expect_works(ranks);
  }
}

TEST(Run, OfTwoThreadsAtOnceIsRefusedToTheSecond) {
  team ranks(options_for(2));
  std::latch inside(1), refused(1);
  outcome second;
  std::thread other([&] {
    inside.wait();
    second = outcome_of([&] { ranks.run([](member&) {}); });
    refused.count_down();
  });
  ranks.run([&](member& me) {
    if (me.rank() != 0) return;
    inside.count_down();
    refused.wait();
  });
  other.join();
  EXPECT_EQ(second.type, type_name<argument_error>()) << second.message;
  expect_works(ranks);
}

TEST(Run, MayComeFromOneThreadAfterAnother) {
  team ranks(options_for(3));
  expect_works(ranks);
  std::thread([&] { expect_works(ranks); }).join();
  expect_works(ranks);
}

TEST(Run, OfAnotherTeamInsideWorks) {
  team outer(options_for(2)), inner({.ranks = 2, .place = placement::unbound});
  outer.run([&](member& me) {
    if (me.rank() == 1) expect_works(inner);
    barrier(me);
  });
}

TEST(Teams, ComeAndGoWithoutRunning) {
  for (int i = 0; i < 50; ++i) team(options_for(static_cast<rank_t>(1 + i % 5)));
}

TEST(Teams, SideBySideDoNotDisturbEachOther) {
  std::vector<std::thread> users;
  for (int user = 0; user < 3; ++user) {
    users.emplace_back([] {
      team ranks({.ranks = 3, .place = placement::unbound});
      for (int round = 0; round < 50; ++round) expect_works(ranks);
    });
  }
  for (auto& user : users) user.join();
}

/// What ranks nobody pins share is not what a placement would give them.
TEST(Team, UnboundByTheEnvironmentIsPlacedAsUnbound) {
  test::variable const unbound("COSET_BIND", "no");
  auto const machine = topology::synthetic("numa:2 l3:2 core:2 pu:1");
  team const ranks(machine, {.ranks = 4, .place = placement::scatter});
  auto const wanted = machine.place(4, placement::unbound);
  EXPECT_TRUE(std::ranges::equal(ranks.state().shape.places, wanted, {}, &processor::os_index, &processor::os_index));
  EXPECT_FALSE(
      std::ranges::equal(wanted, machine.place(4, placement::scatter), {}, &processor::os_index, &processor::os_index));
}

}  // namespace
}  // namespace coset::team_test
