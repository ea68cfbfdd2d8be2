// SPDX-License-Identifier: Apache-2.0
// Many teams of one communicator: what one leaves to the next, and that those that are alive at once do not meet.
#include "bench/mpi/counting.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "mpi/memory/shortage.hpp"
#include "mpi/processes.hpp"
#include "mpi/transport/lanes.hpp"
#include "runtime/memory/lines.hpp"

namespace coset::mpi_test {
namespace {

using measure::communicators;

std::string fault_of_sums(mpi::team& all) {
  std::string fault;
  auto const thrown = outcome_of([&] {
    all.run([&](member& me) {
      std::vector<int> sums(300, static_cast<int>(me.rank()) + 1);
      allreduce(me, sums);
      if (sums != std::vector<int>(300, static_cast<int>(me.size() * (me.size() + 1) / 2)))
        throw std::logic_error("a sum is wrong");
    });
  });
  return thrown.type.empty() ? "" : thrown.type + " " + thrown.message;
}

team threads_for(std::uint64_t seed) {
  return team({.ranks = threads_of(process(), seed), .place = placement::unbound});
}

TEST(Pool, ServesManyTeamsOneAfterTheOther) {
  team threads = threads_for(1);
  int const teams = test::by_effort(200, 1000, 5000);
  std::string fault;
  for (int k = 0; k < teams && fault.empty(); ++k) {
    mpi::team all(MPI_COMM_WORLD, threads);
    if (k % 20 == 0) fault = fault_of_sums(all);
  }
  EXPECT_EQ(said_anywhere(fault), "");
}

/// As rows and columns of a grid of processes: MPI splits, and each part has teams of its own.
TEST(Pool, OfEachPartServesItsTeams) {
  int const across = 2;
  team threads = threads_for(3);
  MPI_Comm row = MPI_COMM_NULL, column = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, process() / across, 0, &row);
  MPI_Comm_split(MPI_COMM_WORLD, process() % across, 0, &column);
  std::string fault;
  {
    mpi::team all(MPI_COMM_WORLD, threads), of_row(row, threads), of_column(column, threads);
    for (int k = 0; k < 20 && fault.empty(); ++k) {
      for (mpi::team* const part : {&of_row, &all, &of_column}) fault += fault_of_sums(*part);
    }
    int members = 0;
    MPI_Comm_size(row, &members);
    if (of_row.processes() != members) fault += "a row has other processes";
  }
  MPI_Comm_free(&row);
  MPI_Comm_free(&column);
  EXPECT_EQ(said_anywhere(fault), "");
}

/// On its host.
bool process_is_alone() {
  MPI_Comm host;
  int there = 0;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  MPI_Comm_size(host, &there);
  MPI_Comm_free(&host);
  return there == 1;
}

/// Nor a window, even if the team before it had run.
TEST(Pool, MakesNoCommunicatorForASecondTeam) {
  team threads = threads_for(2);
  bool const alone = process_is_alone();
  std::string fault;
  {
    mpi::team first(MPI_COMM_WORLD, threads);
    fault = fault_of_sums(first);
  }
  int const communicators_then = communicators.made;
  auto const windows_then = windows(mechanism::memfd);
  EXPECT_GT(communicators_then, 0) << "nothing is counted";
  EXPECT_EQ(windows_then.empty(), alone) << "or no windows are found";
  for (std::string const& each : windows_then) EXPECT_NE(each.find("(deleted)"), std::string::npos) << each;
  for (int k = 0; k < 3; ++k) {
    mpi::team later(MPI_COMM_WORLD, threads);
    if (fault.empty()) fault = fault_of_sums(later);
  }
  EXPECT_EQ(communicators.made, communicators_then);
  EXPECT_EQ(windows(mechanism::memfd), windows_then);
  EXPECT_EQ(said_anywhere(fault), "");
}

/// Nor for one like an earlier one.
TEST(Pool, MakesNoWindowForTeamsThatTakeTurns) {
  team few({.ranks = 1, .place = placement::unbound}), more = threads_for(5);
  std::string fault;
  std::set<std::string> windows_then;
  for (int k = 0; k < 6; ++k) {
    if (k == 2) windows_then = windows(mechanism::memfd);
    mpi::team one(MPI_COMM_WORLD, k % 2 == 0 ? few : more), other(MPI_COMM_WORLD, k % 2 == 0 ? more : few);
    if (fault.empty()) fault = fault_of_sums(one);
    if (fault.empty()) fault = fault_of_sums(other);
  }
  EXPECT_EQ(windows(mechanism::memfd), windows_then);
  EXPECT_EQ(said_anywhere(fault), "");
}

TEST(Pool, ServesTeamsOfOtherThreads) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) hybrid(seed % 5).expect_works();
}

/// What a team says of itself, but for what was measured.
std::string facts_of(mpi::team const& all) {
  std::string const text = all.describe();
  return text.substr(0, text.find(", which take"));
}

TEST(Pool, ServesTeamsOfOtherOptions) {
  for (std::size_t const staging : {1u << 20, 1u << 16, 0u, 1u << 18, 1u << 20}) {
    auto options = usual_options();
    options.staging_bytes = staging;
    hybrid on(1, options);
    on.expect_works();
    MPI_Comm fresh;
    MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
    EXPECT_EQ(facts_of(on.all), facts_of(mpi::team(fresh, on.threads, options)));
    MPI_Comm_free(&fresh);
  }
}

TEST(Pool, ServesTwoTeamsAtOnceWhicheverEndsFirst) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    auto one = std::make_unique<hybrid>(seed), other = std::make_unique<hybrid>(seed + seed % 2);
    one->expect_works();
    other->expect_works();
    if (seed % 3 == 0) std::swap(one, other);
    other.reset();
    one->expect_works();
    auto const third = std::make_unique<hybrid>(seed);
    one.reset();
    third->expect_works();
  }
}

/// Each makes a communicator, and all of them a few lanes: with all for itself, MPICH has none left after some 170 teams.
TEST(Pool, ServesManyTeamsAtOnce) {
  if (processes() > 2) GTEST_SKIP() << "to make communicators takes long where processes wait for processors";
  int const teams = test::by_effort(40, 200, 500), before = communicators.made;
  team threads = threads_for(3);
  std::vector<std::unique_ptr<mpi::team>> alive;
  std::string fault;
  auto const thrown = outcome_of([&] {
    for (int k = 0; k < teams; ++k) alive.push_back(std::make_unique<mpi::team>(MPI_COMM_WORLD, threads));
  });
  ASSERT_EQ(said_anywhere(thrown.message), "");
  EXPECT_LE(communicators.made - before, teams + 8 * (1 + teams / 64));
  for (std::size_t k = 0; k < alive.size(); k += 10) {
    if (fault.empty()) fault = fault_of_sums(*alive[k]);
  }
  for (std::size_t k = 0; k < alive.size(); k += 2) alive[k].reset();
  for (std::size_t k = 1; k < alive.size(); k += 20) {
    if (fault.empty()) fault = fault_of_sums(*alive[k]);
  }
  alive.clear();
  EXPECT_EQ(said_anywhere(fault), "");
}

/// By messages, also within this host.
TEST(Pool, KeepsTeamsApartThatRunAtTheSameTime) {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level < MPI_THREAD_MULTIPLE) GTEST_SKIP() << "one thread at a time";
  auto options = usual_options();
  options.staging_bytes = 0;
  hybrid one(1, options), other(1, options);
  std::string fault = fault_of_sums(one.all);  // their rounds have the same numbers now
  for (int k = 0; k < 3 && fault.empty(); ++k) {
    std::string beside;
    auto const run = [](hybrid& on, std::string& found) {
      for (int r = 0; r < test::by_effort(10, 30, 100) && found.empty(); ++r) found = fault_of_sums(on.all);
    };
    std::thread second([&] { run(other, beside); });
    run(one, fault);
    second.join();
    fault += beside;
  }
  EXPECT_EQ(said_anywhere(fault), "");
}

/// With messages under way that the next team must not take for its own: long ones, which need both sides, too.
TEST(Pool, OutlivesTeamsThatFail) {
  for (int turn = 0; turn < test::by_effort(12, 40, 200); ++turn) {
    auto options = usual_options();
    if (turn % 2 == 0) options.staging_bytes = 0;
    std::size_t const bytes = turn % 4 < 2 ? 4u << 20 : 1000;
    auto const thrown = outcome_of([&] {
      hybrid on(static_cast<std::uint64_t>(turn % 3), options);
      on.all.run([&](member& me) {
        std::vector<std::byte> much(bytes);
        if (me.rank() == me.size() - 1) throw std::range_error("out");
        broadcast(me, much, 0);
      });
    });
    ASSERT_EQ(said_anywhere(thrown.type.empty() ? "nothing was thrown" : ""), "");
    hybrid(static_cast<std::uint64_t>(turn % 3), options).expect_works();
  }
}

TEST(Pool, EndsWithItsCommunicator) {
  std::string fault;
  int const alive = communicators.made - communicators.freed;
  auto const windows_then = windows(mechanism::memfd);
  for (int k = 0; k < test::by_effort(6, 20, 200) && fault.empty(); ++k) {
    MPI_Comm own;
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    team threads({.ranks = 2, .place = placement::unbound});
    auto all = std::make_unique<mpi::team>(own, threads);
    bool const first = k % 2 == 0;
    if (first) MPI_Comm_free(&own);
    fault = fault_of_sums(*all);
    all.reset();
    if (!first) MPI_Comm_free(&own);
    EXPECT_EQ(communicators.made - communicators.freed, alive);
    EXPECT_EQ(windows(mechanism::memfd), windows_then);
  }
  EXPECT_EQ(said_anywhere(fault), "");
}

/// As loosely as without teams over it: red if a process waits until the others free it, too.
TEST(Pool, IsFreedWithoutWaiting) {
  MPI_Comm own;
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  team threads = threads_for(1);
  { mpi::team const all(own, threads); }
  if (process() != 0) MPI_Recv(nullptr, 0, MPI_BYTE, process() - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Comm_free(&own);
  if (process() != processes() - 1) MPI_Send(nullptr, 0, MPI_BYTE, process() + 1, 0, MPI_COMM_WORLD);
  hybrid(1).expect_works();
}

TEST(Pool, IsNotThatOfADuplicate) {
  MPI_Comm first, second;
  MPI_Comm_dup(MPI_COMM_WORLD, &first);
  hybrid(1).expect_works();
  team threads = threads_for(1);
  std::string fault = fault_of_sums(*std::make_unique<mpi::team>(first, threads));
  MPI_Comm_dup(first, &second);
  int const before = communicators.made;
  auto of_second = std::make_unique<mpi::team>(second, threads);
  EXPECT_GT(communicators.made, before);
  MPI_Comm_free(&first);
  if (fault.empty()) fault = fault_of_sums(*of_second);
  of_second.reset();
  if (fault.empty()) fault = fault_of_sums(*std::make_unique<mpi::team>(second, threads));
  MPI_Comm_free(&second);
  EXPECT_EQ(said_anywhere(fault), "");
}

TEST(Lanes, TellTeamsPartsSendersAndChannelsApart) {
  constexpr rank_t senders = 8, threads = 12;
  mpi::lanes made(senders, threads);
  std::set<int> tags;
  std::size_t count = 0;
  std::vector<std::uint32_t> seats;
  while (made.has_seats() && seats.size() < 3) seats.push_back(made.take_seat());
  EXPECT_GT(seats.size(), 1u) << "this MPI has few tags";
  for (std::uint32_t const seat : seats) {
    for (std::uint32_t const round : {0u, 1u, 2u, 1000u, 1226u}) {
      for (rank_t sender = 0; sender < senders; ++sender) {
        for (std::uint32_t channel = 0; channel < runtime::channels; ++channel, count += 2) {
          int const tag = made.tag(seat, round, sender, channel);
          tags.insert({tag, tag + 1});
        }
      }
    }
    for (std::uint32_t const number : {0u, 1u, 7u, made.numbers_told_apart() - 1}) {
      for (rank_t thread = 0; thread < threads; ++thread) {
        for (std::uint32_t channel = 0; channel < runtime::channels; ++channel, count += 2) {
          int const tag = made.tag_of_part(seat, number, thread, channel);
          tags.insert({tag, tag + 1});
        }
      }
    }
  }
  EXPECT_EQ(tags.size(), count);
  void* largest = nullptr;
  int is_there = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &largest, &is_there);
  EXPECT_LE(*tags.rbegin(), *static_cast<int*>(largest));
  EXPECT_GE(*tags.begin(), 0);
  int highest = 0;
  for (std::uint32_t round = 0; round < (1u << 16); ++round)
    highest = std::max(highest, made.tag(seats.back(), round, senders - 1, runtime::channels - 1) + 1);
  EXPECT_LE(highest, *static_cast<int*>(largest));
}

}  // namespace
}  // namespace coset::mpi_test
