// SPDX-License-Identifier: Apache-2.0
// What tests of several processes share: teams of unequal processes, and faults that all processes hear of.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "coset/coset.hpp"
#include "coset/mpi.hpp"
#include "effort.hpp"
#include "support/teams.hpp"

namespace coset::mpi_test {

using team_test::outcome;
using team_test::outcome_of;
using team_test::type_name;

inline int process() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

inline int processes() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

/// Unequal, and other ones with another seed: 1 to 4.
inline rank_t threads_of(int process, std::uint64_t seed) {
  return static_cast<rank_t>(1 + (static_cast<std::uint64_t>(process) * 7 + seed) % 4);
}

/// Waits without spinning, unlike MPI: others have tests to do on the same processors.
inline void await(MPI_Request under_way) {
  for (int done = 0; done == 0;) {
    MPI_Test(&under_way, &done, MPI_STATUS_IGNORE);
    if (done == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

/// Collective: what the processes have to say, each on a line of its own; empty where none has anything. So that every
/// process takes the same way afterwards, and process 0 can tell.
inline std::string said_anywhere(std::string const& fault) {
  MPI_Request under_way;
  MPI_Ibarrier(MPI_COMM_WORLD, &under_way);
  await(under_way);
  int const mine = static_cast<int>(fault.size());
  std::vector<int> lengths(static_cast<std::size_t>(processes())), begins(lengths.size());
  MPI_Allgather(&mine, 1, MPI_INT, lengths.data(), 1, MPI_INT, MPI_COMM_WORLD);
  int total = 0;
  for (std::size_t p = 0; p < lengths.size(); total += lengths[p++]) begins[p] = total;
  std::string all(static_cast<std::size_t>(total), ' '), text;
  MPI_Allgatherv(fault.data(), mine, MPI_CHAR, all.data(), lengths.data(), begins.data(), MPI_CHAR, MPI_COMM_WORLD);
  for (std::size_t p = 0; p < lengths.size(); ++p) {
    if (lengths[p] == 0) continue;
    text += "process " + std::to_string(p) + ": " +
            all.substr(static_cast<std::size_t>(begins[p]), static_cast<std::size_t>(lengths[p])) + "\n";
  }
  return text;
}

/// Those of a run with --offload have leaders for it.
inline mpi::options usual_options() {
  return {.library_leaders = std::getenv("COSET_ALLREDUCE") != nullptr ? rank_t{2} : rank_t{0}};
}

/// The threads of this process, which share what processors there are with all others, and the team of all.
struct hybrid {
  team threads;
  mpi::team all;

  explicit hybrid(std::uint64_t seed, mpi::options options = usual_options())
      : threads({.ranks = threads_of(process(), seed), .place = placement::unbound}),
        all(MPI_COMM_WORLD, threads, std::move(options)) {}

  /// Runs `body` on every rank; the first fault of each process that it returns.
  template <class Body>
  std::string faults(Body&& body) {
    std::vector<std::string> found(all.threads());
    auto const thrown = outcome_of([&] { all.run([&](member& me) { found[me.rank() - all.first()] = body(me); }); });
    for (auto const& fault : found) {
      if (!fault.empty()) return fault;
    }
    return thrown.type.empty() ? "" : "run() threw " + thrown.message;
  }

  /// Collective, as a whole.
  template <class Body>
  void expect_no_faults(Body&& body) {
    EXPECT_EQ(said_anywhere(faults(body)), "") << all.describe();
  }

  void expect_works() {
    expect_no_faults([](member& me) -> std::string {
      std::vector<int> sums(1000, static_cast<int>(me.rank()) + 1);
      allreduce(me, sums);
      int const expected = static_cast<int>(me.size() * (me.size() + 1) / 2);
      return std::count(sums.begin(), sums.end(), expected) == 1000 ? "" : "a sum is wrong";
    });
  }
};

}  // namespace coset::mpi_test
