// SPDX-License-Identifier: Apache-2.0
// One collective of MPI's after another, alone and in cycles, as libcoset_preload.so carries them out and as the MPI beneath it
// does, by turns in one process. A plain MPI program: without the library both are MPI's, and all ratios should be 1.
//
// usage: calls [--verbs allreduce,…] [--sizes 8,…] [--rounds N]
//
// Writes a line for each verb, size and timing, separated by tabs: verb, bytes, "call" or "cycle", the medians of MPI's
// and of the layer's microseconds, and the median, the lower and the upper quartile of how many times MPI's is the
// layer's in a round. A round's time is that of the slowest process.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "both_sides.hpp"

using namespace benched;

namespace {

float sink;

/// What a program does between two calls: it writes what it gives, and reads what it has got.
void use(arrays& a) {
  for (float& x : a.in) x += 1;
  float sum = 0;
  for (float const x : a.out) sum += x;
  sink = sum;
}

double seconds_of(measured_verb const& what, functions const& by, functions const& mpi, arrays& a, int times,
                  bool cycle) {
  mpi.barrier(MPI_COMM_WORLD);
  double const begin = MPI_Wtime();
  for (int i = 0; i < times; ++i) {
    if (cycle) use(a);
    what.once(by, a);
  }
  double const own = MPI_Wtime() - begin;
  double slowest = 0;
  mpi.allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest / times;
}

double quantile(std::vector<double> values, double which) {
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(which * static_cast<double>(values.size() - 1) + 0.5)];
}

void compare(measured_verb const& what, std::size_t bytes, bool cycle, int rounds, functions const& mpi) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  functions const layer;
  arrays a = arrays_for(what, bytes);
  constexpr double wanted = 2e-3;
  int times = 4;
  for (int tries = 0; tries < 3; ++tries) {
    double const each =
        std::max(seconds_of(what, mpi, mpi, a, times, cycle), seconds_of(what, layer, mpi, a, times, cycle));
    times = static_cast<int>(std::clamp(wanted / each, 2.0, 20'000.0));
    mpi.broadcast(&times, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  std::vector<double> theirs, ours, ratios;
  for (int round = 0; round < rounds; ++round) {
    bool const first = round % 2 == 0;
    double const one = seconds_of(what, first ? mpi : layer, mpi, a, times, cycle);
    double const other = seconds_of(what, first ? layer : mpi, mpi, a, times, cycle);
    theirs.push_back(first ? one : other);
    ours.push_back(first ? other : one);
    ratios.push_back(theirs.back() / ours.back());
  }
  if (rank != 0) return;
  std::printf("%s\t%zu\t%s\t%.3f\t%.3f\t%.2f\t%.2f\t%.2f\n", what.name, bytes, cycle ? "cycle" : "call",
              quantile(theirs, 0.5) * 1e6, quantile(ours, 0.5) * 1e6, quantile(ratios, 0.5), quantile(ratios, 0.25),
              quantile(ratios, 0.75));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  std::string wanted, sizes = "8,64,1024,8192,65536,262144,1048576,4194304,16777216,67108864";
  int rounds = 15;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--verbs") == 0) wanted = argv[i + 1];
    if (std::strcmp(argv[i], "--sizes") == 0) sizes = argv[i + 1];
    if (std::strcmp(argv[i], "--rounds") == 0) rounds = std::atoi(argv[i + 1]);
  }
  functions const mpi = of_mpi();
  auto const chosen = words_of(wanted);
  for (measured_verb const& what : verbs) {
    if (!is_among(chosen, what.name)) continue;
    for (std::string const& size : words_of(std::strcmp(what.name, "barrier") == 0 ? "4" : sizes)) {
      for (bool const cycle : {false, true}) compare(what, std::stoul(size), cycle, rounds, mpi);
    }
  }
  MPI_Finalize();
}
