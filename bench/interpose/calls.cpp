// SPDX-License-Identifier: Apache-2.0
// One collective of MPI's after another, alone and in cycles, as libcoset_preload.so carries them out and as the MPI beneath it
// does, by turns in one process. A plain MPI program: without the library both are MPI's, and all ratios should be 1.
//
// usage: calls [--verbs allreduce,…] [--sizes 8,…] [--rounds N]
//
// Writes a line for each verb, size and timing, separated by tabs: verb, bytes, "call" or "cycle", the medians of MPI's
// and of the layer's microseconds, and the median, the lower and the upper quartile of how many times MPI's is the
// layer's in a round. A round's time is that of the slowest process.
#include <dlfcn.h>
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

/// The functions of one side.
struct functions {
  decltype(&MPI_Allreduce) allreduce = MPI_Allreduce;
  decltype(&MPI_Reduce) reduce = MPI_Reduce;
  decltype(&MPI_Reduce_scatter_block) reduce_scatter = MPI_Reduce_scatter_block;
  decltype(&MPI_Allgather) allgather = MPI_Allgather;
  decltype(&MPI_Bcast) broadcast = MPI_Bcast;
  decltype(&MPI_Barrier) barrier = MPI_Barrier;
  decltype(&MPI_Scan) scan = MPI_Scan;
};

/// MPI's own, whatever was put before it.
functions of_mpi() {
  void* const library = dlopen(BENCHED_MPI, RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) {
    std::fprintf(stderr, "calls: %s\n", dlerror());
    std::exit(1);
  }
  functions all;
  auto const find = [&](auto& function, char const* name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
  };
  find(all.allreduce, "PMPI_Allreduce");
  find(all.reduce, "PMPI_Reduce");
  find(all.reduce_scatter, "PMPI_Reduce_scatter_block");
  find(all.allgather, "PMPI_Allgather");
  find(all.broadcast, "PMPI_Bcast");
  find(all.barrier, "PMPI_Barrier");
  find(all.scan, "PMPI_Scan");
  return all;
}

struct arrays {
  std::vector<float> in, out;
  int count;  ///< elements of the vector, or of a piece where ranks have pieces
};

using call = std::function<void(functions const&, arrays&)>;

/// `pieces`: the size is that of all ranks' pieces.
struct measured_verb {
  char const* name;
  bool pieces;
  call once;
};

std::vector<measured_verb> const verbs = {
    {"allreduce", false,
     [](functions const& by, arrays& a) {
       by.allreduce(a.in.data(), a.out.data(), a.count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
     }},
    {"reduce", false,
     [](functions const& by, arrays& a) {
       by.reduce(a.in.data(), a.out.data(), a.count, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
     }},
    {"reduce_scatter", true,
     [](functions const& by, arrays& a) {
       by.reduce_scatter(a.in.data(), a.out.data(), a.count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
     }},
    {"allgather", true,
     [](functions const& by, arrays& a) {
       by.allgather(a.in.data(), a.count, MPI_FLOAT, a.out.data(), a.count, MPI_FLOAT, MPI_COMM_WORLD);
     }},
    {"broadcast", false,
     [](functions const& by, arrays& a) { by.broadcast(a.out.data(), a.count, MPI_FLOAT, 0, MPI_COMM_WORLD); }},
    {"barrier", false, [](functions const& by, arrays&) { by.barrier(MPI_COMM_WORLD); }},
    {"scan", false,
     [](functions const& by, arrays& a) {
       by.scan(a.in.data(), a.out.data(), a.count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
     }},
};

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
  int ranks, rank;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  functions const layer;
  auto const count =
      std::max<std::size_t>(bytes / sizeof(float) / (what.pieces ? static_cast<std::size_t>(ranks) : 1), 1);
  auto const whole = count * (what.pieces ? static_cast<std::size_t>(ranks) : 1);
  arrays a{std::vector<float>(whole, 1), std::vector<float>(whole), static_cast<int>(count)};
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

std::vector<std::string> words_of(std::string const& list) {
  std::vector<std::string> words;
  std::istringstream in(list);
  for (std::string word; std::getline(in, word, ',');) words.push_back(word);
  return words;
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
    if (!chosen.empty() && std::ranges::find(chosen, what.name) == chosen.end()) continue;
    for (std::string const& size : words_of(std::strcmp(what.name, "barrier") == 0 ? "4" : sizes)) {
      for (bool const cycle : {false, true}) compare(what, std::stoul(size), cycle, rounds, mpi);
    }
  }
  MPI_Finalize();
}
