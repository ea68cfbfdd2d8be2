// SPDX-License-Identifier: Apache-2.0
// Traces of several processes become one: all ranks in order, on one clock, with the messages between them.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "command/trace/read.hpp"
#include "mpi/processes.hpp"
#include "runtime/trace/process.hpp"

namespace coset::mpi_test {
namespace {

using trace::event;
using trace::kind;

/// Collective: what each process says, on all of them.
std::vector<std::string> all_say(std::string const& own) {
  int const mine = static_cast<int>(own.size());
  std::vector<int> lengths(static_cast<std::size_t>(processes())), begins(lengths.size());
  MPI_Allgather(&mine, 1, MPI_INT, lengths.data(), 1, MPI_INT, MPI_COMM_WORLD);
  int total = 0;
  for (std::size_t p = 0; p < lengths.size(); total += lengths[p++]) begins[p] = total;
  std::string all(static_cast<std::size_t>(total), ' ');
  MPI_Allgatherv(own.data(), mine, MPI_CHAR, all.data(), lengths.data(), begins.data(), MPI_CHAR, MPI_COMM_WORLD);
  std::vector<std::string> said;
  for (std::size_t p = 0; p < lengths.size(); ++p)
    said.push_back(all.substr(static_cast<std::size_t>(begins[p]), static_cast<std::size_t>(lengths[p])));
  return said;
}

TEST(Trace, OfAllProcessesHasEveryRankInOrder) {
  trace::start(0);
  constexpr int calls = 4;
  rank_t ranks = 0;
  bool one_memory = false, one_host = false;
  {
    hybrid on(1);
    ranks = on.all.size();
    one_memory = on.all.processes() == 1;
    one_host = on.all.hosts() == 1;
    on.expect_no_faults([](member& me) -> std::string {
      for (int k = 0; k < calls; ++k) {
        std::vector<int> items(5000, 1);
        allreduce(me, items);
        if (items[17] != static_cast<int>(me.size())) return "a sum is wrong";
        barrier(me);
      }
      return "";
    });
  }
  std::vector<trace::log> logs;
  for (auto const& text : all_say(trace::json_of(trace::collect()))) logs.push_back(cli::trace_in(text));
  trace::log const all = cli::merged(logs);
  std::vector<rank_t> numbers;
  std::map<std::uint64_t, std::vector<event>> operations;
  std::uint64_t sent = 0, received = 0, at_known_places = 0;
  for (auto const& rank : all.ranks) {
    if (rank.size != ranks) continue;
    numbers.push_back(rank.number);
    for (auto const known : {trace::level::cache, trace::level::node, trace::level::host})
      at_known_places += rank.moved[static_cast<std::size_t>(known)];
    for (event const& e : rank.events) {
      if (e.what == kind::operation) operations[e.of.tag].push_back(e);
      if (e.what == kind::send) sent += e.data.bytes;
      if (e.what == kind::receive) received += e.data.bytes;
    }
  }
  ASSERT_EQ(numbers.size(), ranks);
  EXPECT_TRUE(std::ranges::is_sorted(numbers));
  EXPECT_EQ(sent, received);
  // Nobody knows where the ranks of other processes are; those that are alone on their host know of their own.
  EXPECT_TRUE(one_memory || !one_host || at_known_places == 0);
  std::size_t whole = 0;
  for (auto const& [tag, of_all] : operations) {
    if (of_all.size() != ranks) continue;
    ++whole;
    // Nobody has left before the last has come: clocks that are apart by more than an operation takes would show.
    auto const last_begin = std::ranges::max(of_all, {}, &event::begin).begin;
    auto const first_end = std::ranges::min(of_all, {}, &event::end).end;
    constexpr std::uint64_t apart = 100'000'000;  // ns: far more than clocks that were compared are apart
    EXPECT_LE(last_begin, first_end + apart);
    EXPECT_EQ(of_all.front().joint != 0, !one_memory);
  }
  EXPECT_EQ(whole, 2u * calls);
}

/// Pairs of processes, of which some have made other teams before.
TEST(Trace, OfPartsOfTheWorldTellsTheirTeamsApart) {
  trace::start(0);
  if (processes() < 2) GTEST_SKIP() << "one process has no parts";
  team_options const one{.ranks = 1, .place = placement::unbound};
  for (int k = 0; k < process() % 2; ++k) coset::team(one).run([](member& me) { barrier(me); });
  MPI_Comm pair = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, process() / 2, process(), &pair);
  constexpr std::size_t calls = 7;
  {
    coset::team threads(one);
    mpi::team both(pair, threads);
    both.run([](member& me) {
      for (std::size_t k = 0; k < calls; ++k) barrier(me);
    });
  }
  MPI_Comm_free(&pair);
  std::vector<trace::log> logs;
  for (auto const& text : all_say(trace::json_of(trace::collect()))) logs.push_back(cli::trace_in(text));
  for (std::size_t p = 0; p < logs.size(); ++p) EXPECT_EQ(logs[p].process, p);
  trace::log const all = cli::merged(logs);
  std::map<std::tuple<trace::team_name, std::uint64_t, std::uint32_t>, std::set<std::uint32_t>> who;
  for (auto const& rank : all.ranks) {
    for (event const& e : rank.events)
      if (e.what == kind::operation && e.joint != 0)
        who[{team_of(e, rank, all), e.of.tag, e.of.number}].insert(rank.process);
  }
  for (std::uint32_t p = 0; p + 1 < logs.size(); p += 2)
    EXPECT_EQ(std::ranges::count(who, std::set{p, p + 1}, [](auto const& each) { return each.second; }), calls) << p;
}

}  // namespace
}  // namespace coset::mpi_test
