// SPDX-License-Identifier: Apache-2.0
// Teams split from teams over processes: who is in them, and that all works there and beside them.
#include <fstream>
#include <numeric>
#include <optional>

#include "mpi/split/parts.hpp"

namespace coset::mpi_test {
namespace {

std::vector<rank_t> all_ranks(rank_t count) {
  std::vector<rank_t> all(count);
  std::iota(all.begin(), all.end(), rank_t{0});
  return all;
}

mpi::options random_options(engine& choices) {
  mpi::options options;
  options.leaders = static_cast<rank_t>(below(choices, 3));
  constexpr std::size_t staging[]{0, 64 * 1024, 1024 * 1024};
  options.staging_bytes = staging[below(choices, std::size(staging))];
  return options;
}

/// A part, a part of it, and the whole: operations of all of them are under way at once.
std::string splits(member& me, std::vector<ticket> const& first, std::vector<ticket> const& second,
                   std::uint64_t seed) {
  rank_t const self = me.rank();
  std::vector<double> travelling(3000, 1.0);
  request under_way = start_allreduce(me, travelling);
  member part = me.split(first[self].colour, first[self].key);
  auto const members = part_of(first, all_ranks(me.size()), self);
  std::string fault = unless_made_of(part, members, self);
  std::vector<double> inside(2000, 2.0);
  request in_part = start_allreduce(part, inside);
  member child = part.split(second[self].colour, second[self].key);
  auto const grandchildren = part_of(second, members, self);
  if (fault.empty()) fault = unless_made_of(child, grandchildren, self);
  if (fault.empty()) fault = errands(part, seed + members.front(), 5);
  if (fault.empty()) fault = errands(child, seed + 1000 + grandchildren.front(), 5);
  if (fault.empty()) fault = errands(me, seed + 2000, 2);
  in_part.wait();
  under_way.wait();
  if (fault.empty() && inside.back() != 2.0 * part.size()) fault = "a sum in the part is wrong";
  if (fault.empty() && travelling.back() != me.size()) fault = "a sum of all is wrong";
  return fault;
}

TEST(SplitOfProcesses, PartsAndTheirPartsWorkBesideTheWhole) {
  engine choices(test::seed());
  std::size_t const teams = test::by_effort<std::size_t>(2, 4, 30);
  for (std::size_t t = 0; t < teams; ++t) {
    hybrid on(t, random_options(choices));
    origins const of(on.all);
    for (std::size_t turn = 0; turn < 4; ++turn) {
      auto const first = random_tickets(choices, of), second = random_tickets(choices, of);
      std::uint64_t const seed = choices() % 1'000'000;
      on.expect_no_faults([&](member& me) { return splits(me, first, second, seed); });
      if (HasFailure()) return;
    }
  }
}

/// In no order that processes have, so that ranks which follow each other share no memory.
TEST(SplitOfProcesses, KeysOrderRanksAcrossProcesses) {
  if (!any_rank_sends()) GTEST_SKIP() << "only the first rank of each process sends";
  for (std::uint64_t seed : {1u, 2u}) {
    hybrid on(seed);
    origins const of(on.all);
    std::vector<ticket> by_thread;
    for (rank_t r = 0; r < on.all.size(); ++r) by_thread.push_back({7, static_cast<int>(of.thread[r])});
    on.expect_no_faults([&](member& me) -> std::string {
      rank_t const self = me.rank();
      member part = me.split(7, by_thread[self].key);
      std::string fault = unless_made_of(part, part_of(by_thread, all_ranks(me.size()), self), self);
      return fault.empty() ? errands(part, seed, 20) : fault;
    });
  }
}

TEST(SplitOfProcesses, NodeTeamsShareMemory) {
  hybrid on(3);
  origins const of(on.all);
  on.expect_no_faults([&](member& me) -> std::string {
    member mine = me.node_team();
    std::vector<rank_t> members(mine.size());
    allgather(mine, std::array{me.rank()}, members);
    std::vector<unsigned> nodes(mine.size());
    allgather(mine, std::array{me.node()}, nodes);
    if (std::ranges::count(nodes, me.node()) != static_cast<std::ptrdiff_t>(mine.size())) return "another node";
    for (rank_t r = 0; r < me.size(); ++r) {
      bool const same = of.process[r] == of.process[me.rank()];
      if (same && on.threads.size() == 1 && std::ranges::find(members, r) == members.end()) return "ranks are missing";
    }
    return errands(mine, 77 + members.front(), 5);
  });
}

TEST(SplitOfProcesses, PartsOfOneProcessShareViews) {
  hybrid on(1);
  origins const of(on.all);
  on.expect_no_faults([&](member& me) -> std::string {
    member mine = me.split(of.process[me.rank()]);
    auto const view = allreduce_view(mine, std::vector<int>(100, 1));
    if (view[99] != static_cast<int>(mine.size())) return "a view is wrong";
    member again = mine.split(static_cast<int>(mine.rank() % 2), -static_cast<int>(mine.rank()));
    return allreduce(again, 1u) == again.size() ? "" : "a part of the part is wrong";
  });
}

/// The first and the last process have several threads.
TEST(SplitOfProcesses, WithoutARankThatSendsIsRefusedEverywhere) {
  if (any_rank_sends()) GTEST_SKIP() << "any rank sends";
  hybrid on(1);
  origins const of(on.all);
  on.expect_no_faults([&](member& me) -> std::string {
    bool const first = of.thread[me.rank()] == 0;
    auto const thrown = outcome_of([&] {
      member part = me.split(first ? 0 : 1);
      barrier(part);
    });
    rank_t const refused = allreduce(me, thrown.type == type_name<argument_error>() ? 1u : 0u);
    if (refused != (on.all.hosts() > 1 ? me.size() : 0)) return "refused on " + std::to_string(refused) + " ranks";
    if (refused != 0 && thrown.message.find("MPI_THREAD_MULTIPLE") == std::string::npos) return thrown.message;
    return "";
  });
  on.expect_works();
}

TEST(SplitOfProcesses, MembersOfAnEarlierRunAreRefused) {
  hybrid on(2);
  std::vector<std::optional<member>> kept(on.all.threads());
  auto const mine = [&](member& me) -> std::optional<member>& { return kept[me.rank() - on.all.first()]; };
  on.expect_no_faults([&](member& me) -> std::string {
    mine(me).emplace(me.split(0));
    return allreduce(*mine(me), 1u) == me.size() ? "" : "a sum is wrong";
  });
  on.expect_no_faults([&](member& me) -> std::string {
    auto const thrown = outcome_of([&] { barrier(*mine(me)); });
    barrier(me);
    return thrown.type == type_name<argument_error>() ? "" : "not refused: " + thrown.message;
  });
  on.expect_no_faults([&](member& me) -> std::string {
    mine(me).reset();
    return errands(me, 5, 3);
  });
}

TEST(SplitOfProcesses, MembersMayOutliveTheTeam) {
  for (bool const used_by_others : {false, true}) {
    std::vector<std::optional<member>> kept(4), near(4);
    team threads({.ranks = threads_of(process(), 1), .place = placement::unbound});
    {
      mpi::team all(MPI_COMM_WORLD, threads);
      all.run([&](member& me) {
        rank_t const thread = me.rank() - all.first();
        kept[thread].emplace(me.split(0));
        near[thread].emplace(me.split(process()));
        barrier(*kept[thread]);
      });
    }
    if (processes() > 1) {
      EXPECT_EQ(outcome_of([&] { barrier(*kept[0]); }).type, type_name<argument_error>());
      EXPECT_EQ(outcome_of([&] { barrier(*near[0]); }).type, type_name<argument_error>());
    }
    if (used_by_others) {
      mpi::team another(MPI_COMM_WORLD, threads);
      another.run([](member& me) { barrier(me); });
    }
    for (auto& each : kept) each.reset();
    for (auto& each : near) each.reset();
  }
  hybrid(2).expect_works();
}

long resident_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == "VmRSS:") {
      long kib = 0;
      status >> kib;
      return kib;
    }
  }
  return 0;
}

/// More than MPICH has communicators for. Some parts are kept all the time: the others get numbers that these have not.
TEST(SplitOfProcesses, ThousandsOfSplitsLeaveNothingBehind) {
  hybrid on(1);
  origins const of(on.all);
  int const turns = test::by_effort(500, 4000, 20'000) / processes() / on.all.hosts();
  on.expect_no_faults([&](member& me) -> std::string {
    rank_t const self = me.rank();
    member kept = me.split(of.process[self] % 2);
    long before = 0;
    for (int k = 0; k < turns; ++k) {
      member part = me.split(of.process[self] == k % processes() ? 1 : 0, 0);
      if (allreduce(part, 1u) != part.size()) return "a sum is wrong";
      if (k == turns / 2) before = resident_kib();
    }
    long const grown = resident_kib() - before;
    if (allreduce(kept, 1u) != kept.size()) return "a sum in the part that was kept is wrong";
    return grown < 2000 ? "" : "memory has grown by " + std::to_string(grown) + " KiB";
  });
}

}  // namespace
}  // namespace coset::mpi_test
