// SPDX-License-Identifier: Apache-2.0
// What programs share that call MPI's collectives by turns as libcoset_preload.so carries them out and as the MPI beneath it does:
// the functions of both sides, and the calls. They are plain MPI programs; without the library both sides are MPI's.
#pragma once

#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace benched {

/// The functions of one side.
struct functions {
  decltype(&MPI_Allreduce) allreduce = MPI_Allreduce;
  decltype(&MPI_Reduce) reduce = MPI_Reduce;
  decltype(&MPI_Reduce_scatter_block) reduce_scatter = MPI_Reduce_scatter_block;
  decltype(&MPI_Allgather) allgather = MPI_Allgather;
  decltype(&MPI_Bcast) broadcast = MPI_Bcast;
  decltype(&MPI_Barrier) barrier = MPI_Barrier;
  decltype(&MPI_Scan) scan = MPI_Scan;
  decltype(&MPI_Iallreduce) start_allreduce = MPI_Iallreduce;
  decltype(&MPI_Ireduce) start_reduce = MPI_Ireduce;
  decltype(&MPI_Ireduce_scatter_block) start_reduce_scatter = MPI_Ireduce_scatter_block;
  decltype(&MPI_Iallgather) start_allgather = MPI_Iallgather;
  decltype(&MPI_Ibcast) start_broadcast = MPI_Ibcast;
  decltype(&MPI_Ibarrier) start_barrier = MPI_Ibarrier;
  decltype(&MPI_Iscan) start_scan = MPI_Iscan;
  decltype(&MPI_Wait) wait = MPI_Wait;
};

/// MPI's own, whatever was put before it.
inline functions of_mpi() {
  void* const library = dlopen(BENCHED_MPI, RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
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
  find(all.start_allreduce, "PMPI_Iallreduce");
  find(all.start_reduce, "PMPI_Ireduce");
  find(all.start_reduce_scatter, "PMPI_Ireduce_scatter_block");
  find(all.start_allgather, "PMPI_Iallgather");
  find(all.start_broadcast, "PMPI_Ibcast");
  find(all.start_barrier, "PMPI_Ibarrier");
  find(all.start_scan, "PMPI_Iscan");
  find(all.wait, "PMPI_Wait");
  return all;
}

struct arrays {
  std::vector<float> in, out;
  int count;  ///< elements of the vector, or of a piece where ranks have pieces
};

/// `pieces`: the size is that of all ranks' pieces.
struct measured_verb {
  char const* name;
  bool pieces;
  std::function<void(functions const&, arrays&)> once;
  std::function<void(functions const&, arrays&, MPI_Request*)> start;
};

inline std::vector<measured_verb> const verbs = {
    {"allreduce", false,
     [](functions const& by, arrays& a) {
       by.allreduce(a.in.data(), a.out.data(), a.count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
     },
     [](functions const& by, arrays& a, MPI_Request* r) {
       by.start_allreduce(a.in.data(), a.out.data(), a.count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, r);
     }},
    {"reduce", false,
     [](functions const& by, arrays& a) {
       by.reduce(a.in.data(), a.out.data(), a.count, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
     },
     [](functions const& by, arrays& a, MPI_Request* r) {
       by.start_reduce(a.in.data(), a.out.data(), a.count, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD, r);
     }},
    {"reduce_scatter", true,
     [](functions const& by, arrays& a) {
       by.reduce_scatter(a.in.data(), a.out.data(), a.count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
     },
     [](functions const& by, arrays& a, MPI_Request* r) {
       by.start_reduce_scatter(a.in.data(), a.out.data(), a.count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, r);
     }},
    {"allgather", true,
     [](functions const& by, arrays& a) {
       by.allgather(a.in.data(), a.count, MPI_FLOAT, a.out.data(), a.count, MPI_FLOAT, MPI_COMM_WORLD);
     },
     [](functions const& by, arrays& a, MPI_Request* r) {
       by.start_allgather(a.in.data(), a.count, MPI_FLOAT, a.out.data(), a.count, MPI_FLOAT, MPI_COMM_WORLD, r);
     }},
    {"broadcast", false,
     [](functions const& by, arrays& a) { by.broadcast(a.out.data(), a.count, MPI_FLOAT, 0, MPI_COMM_WORLD); },
     [](functions const& by, arrays& a, MPI_Request* r) {
       by.start_broadcast(a.out.data(), a.count, MPI_FLOAT, 0, MPI_COMM_WORLD, r);
     }},
    {"barrier", false, [](functions const& by, arrays&) { by.barrier(MPI_COMM_WORLD); },
     [](functions const& by, arrays&, MPI_Request* r) { by.start_barrier(MPI_COMM_WORLD, r); }},
    {"scan", false,
     [](functions const& by, arrays& a) {
       by.scan(a.in.data(), a.out.data(), a.count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
     },
     [](functions const& by, arrays& a, MPI_Request* r) {
       by.start_scan(a.in.data(), a.out.data(), a.count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, r);
     }},
};

inline arrays arrays_for(measured_verb const& what, std::size_t bytes) {
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::size_t const pieces = what.pieces ? static_cast<std::size_t>(ranks) : 1;
  std::size_t const count = std::max<std::size_t>(bytes / sizeof(float) / pieces, 1);
  return {std::vector<float>(count * pieces, 1), std::vector<float>(count * pieces), static_cast<int>(count)};
}

inline std::vector<std::string> words_of(std::string const& list) {
  std::vector<std::string> words;
  std::istringstream in(list);
  for (std::string word; std::getline(in, word, ',');) words.push_back(word);
  return words;
}

/// Where nothing is named, everything is meant.
inline bool is_among(std::vector<std::string> const& names, std::string const& name) {
  return names.empty() || std::ranges::find(names, name) != names.end();
}

}  // namespace benched
