// SPDX-License-Identifier: Apache-2.0
// What it takes to make teams over processes: the first over a communicator, the second, and later ones.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "bench/mpi/counting.hpp"
#include "coset/coset.hpp"
#include "coset/mpi.hpp"

namespace coset::measure {
namespace {

struct wanted {
  int threads = 1, teams = 1000, alive = 0;
};

/// Of one team, in microseconds, as the slowest process has it.
struct times {
  double made, ended;
  int communicators;
};

double now() { return 1e6 * MPI_Wtime(); }

/// All processes begin together.
void meet() { MPI_Barrier(MPI_COMM_WORLD); }

double slowest(double mine) {
  double all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all;
}

times one_team(team& threads) {
  int const before = communicators.made;
  meet();
  double const begin = now();
  auto made = std::make_unique<mpi::team>(MPI_COMM_WORLD, threads);
  double const is_made = now();
  meet();
  double const end = now();
  made.reset();
  double const has_ended = now();
  return {slowest(is_made - begin), slowest(has_ended - end), communicators.made - before};
}

template <class Of>
double median(std::vector<times> const& all, Of of) {
  std::vector<double> values;
  for (times const& each : all) values.push_back(of(each));
  std::ranges::nth_element(values, values.begin() + std::ssize(values) / 2);
  return values[values.size() / 2];
}

void tell(char const* which, double made, double ended, int communicators) {
  std::printf("%-22s %10.1f us  ended in %8.1f us  %4d new communicators\n", which, made, ended, communicators);
}

void one_after_the_other(team& threads, int teams, bool tells) {
  std::vector<times> all;
  for (int k = 0; k < teams; ++k) all.push_back(one_team(threads));
  if (!tells) return;
  tell("first team", all[0].made, all[0].ended, all[0].communicators);
  if (teams < 3) return;
  tell("second", all[1].made, all[1].ended, all[1].communicators);
  all.erase(all.begin(), all.begin() + 2);
  int communicators = 0;
  for (times const& each : all) communicators += each.communicators;
  tell("later, median", median(all, [](times const& t) { return t.made; }),
       median(all, [](times const& t) { return t.ended; }), communicators);
}

/// Until the library has no communicator left.
void alive_at_once(team& threads, int teams, bool tells) {
  std::vector<std::unique_ptr<mpi::team>> alive;
  int const before = communicators.made;
  meet();
  double const begin = now();
  try {
    while (std::ssize(alive) < teams) alive.push_back(std::make_unique<mpi::team>(MPI_COMM_WORLD, threads));
  } catch (std::exception const& none_left) {
    if (tells) std::printf("%zu alive at once: %s\n", alive.size(), none_left.what());
    std::fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  double const took = slowest(now() - begin);
  if (tells)
    std::printf("%zu alive at once: %.1f us each, %d new communicators\n", alive.size(), took / teams,
                communicators.made - before);
}

wanted read(int argc, char** argv) {
  wanted all;
  for (int a = 1; a + 1 < argc; a += 2) {
    int const value = std::atoi(argv[a + 1]);
    if (std::strcmp(argv[a], "--threads") == 0) all.threads = value;
    if (std::strcmp(argv[a], "--teams") == 0) all.teams = value;
    if (std::strcmp(argv[a], "--alive") == 0) all.alive = value;
  }
  return all;
}

void measure(wanted const& what) {
  int self = 0, processes = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &self);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  if (self == 0) std::printf("%d processes with %d threads each\n", processes, what.threads);
  team threads({.ranks = static_cast<rank_t>(what.threads), .place = placement::unbound});
  one_after_the_other(threads, std::max(what.teams, 1), self == 0);
  if (what.alive > 0) alive_at_once(threads, what.alive, self == 0);
}

}  // namespace
}  // namespace coset::measure

/// [--threads N] [--teams N] [--alive N]; under mpiexec.
int main(int argc, char** argv) {
  int given = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
  coset::measure::measure(coset::measure::read(argc, argv));
  MPI_Finalize();
}
