// SPDX-License-Identifier: Apache-2.0
// Communicators that live for a few collectives: made, used and freed in a loop. A plain MPI program, to be run with and without
// libcoset_preload.so; short_lived.py runs it both ways by turns.
//
// usage: short_lived [--calls 0,1,…] [--microseconds N]
//
// Writes a line for each way of making a communicator, each collective and each number of calls, separated by tabs: the way,
// the collective, the calls, and the median of the microseconds that making, using and freeing one took in ten runs of loops.
// A loop's time is that of the slowest process.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct way {
  char const* name;
  std::function<void(MPI_Comm*)> make;
};

struct collective {
  char const* name;
  std::function<void(MPI_Comm)> call;
};

int rank_in_world() {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

std::vector<way> all_ways() {
  return {
      {"dup", [](MPI_Comm* made) { MPI_Comm_dup(MPI_COMM_WORLD, made); }},
      {"split", [](MPI_Comm* made) { MPI_Comm_split(MPI_COMM_WORLD, 0, -rank_in_world(), made); }},
      {"alone", [](MPI_Comm* made) { MPI_Comm_split(MPI_COMM_WORLD, rank_in_world(), 0, made); }},
  };
}

std::vector<collective> all_collectives() {
  constexpr int most = 128;
  static double in[most], out[most];
  auto const sum_of = [](int count) {
    return [count](MPI_Comm on) { MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, on); };
  };
  return {{"barrier", [](MPI_Comm on) { MPI_Barrier(on); }},
          {"allreduce 8 B", sum_of(1)},
          {"allreduce 1 KiB", sum_of(most)}};
}

double seconds_of(way const& how, collective const& what, int calls, int loops) {
  MPI_Barrier(MPI_COMM_WORLD);
  double const since = MPI_Wtime();
  for (int loop = 0; loop < loops; ++loop) {
    MPI_Comm made;
    how.make(&made);
    for (int call = 0; call < calls; ++call) what.call(made);
    MPI_Comm_free(&made);
  }
  double const own = MPI_Wtime() - since;
  double slowest = 0;
  MPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest;
}

/// Of loops that take as long as is wanted, however long one takes.
double microseconds_of(way const& how, collective const& what, int calls, double wanted) {
  constexpr int runs = 10;
  int loops = 1;
  for (double taken = 0; (taken = seconds_of(how, what, calls, loops) * 1e6) < wanted / runs;)
    loops = std::max(loops * 2, static_cast<int>(loops * wanted / runs / std::max(taken, 1.0)));
  std::vector<double> each;
  for (int run = 0; run < runs; ++run) each.push_back(seconds_of(how, what, calls, loops) * 1e6 / loops);
  std::ranges::sort(each);
  return (each[runs / 2 - 1] + each[runs / 2]) / 2;
}

}  // namespace

int main(int argc, char** argv) {
  std::string calls = "0,1,2,5,9,10,20,50,200";
  double wanted = 200e3;
  for (int at = 1; at + 1 < argc; at += 2) {
    if (std::strcmp(argv[at], "--calls") == 0) calls = argv[at + 1];
    if (std::strcmp(argv[at], "--microseconds") == 0) wanted = std::atof(argv[at + 1]);
  }
  MPI_Init(&argc, &argv);
  // Processes may begin on one core, and the first team of all is made here.
  for (double warm = 0; warm < 0.5;) warm += seconds_of(all_ways()[0], all_collectives()[0], 9, 20);
  for (way const& how : all_ways())
    for (collective const& what : all_collectives()) {
      std::istringstream numbers(calls);
      for (std::string number; std::getline(numbers, number, ',');) {
        double const taken = microseconds_of(how, what, std::atoi(number.c_str()), wanted);
        if (rank_in_world() == 0) std::printf("%s\t%s\t%s\t%.2f\n", how.name, what.name, number.c_str(), taken);
        std::fflush(stdout);
      }
    }
  MPI_Finalize();
}
