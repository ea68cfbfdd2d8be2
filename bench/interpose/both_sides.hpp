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

// clang-format off
/// Calls each(name here, MPI's name, MPI's name of the nonblocking form).
#define BENCHED_VERBS(each) \
  each(allreduce, Allreduce, Iallreduce) each(reduce, Reduce, Ireduce) \
  each(reduce_scatter, Reduce_scatter_block, Ireduce_scatter_block) each(allgather, Allgather, Iallgather) \
  each(allgatherv, Allgatherv, Iallgatherv) each(gather, Gather, Igather) each(gatherv, Gatherv, Igatherv) \
  each(scatter, Scatter, Iscatter) each(scatterv, Scatterv, Iscatterv) each(alltoall, Alltoall, Ialltoall) \
  each(alltoallv, Alltoallv, Ialltoallv) each(broadcast, Bcast, Ibcast) each(barrier, Barrier, Ibarrier) \
  each(scan, Scan, Iscan) each(exscan, Exscan, Iexscan)
// clang-format on

/// The functions of one side.
struct functions {
#define BENCHED_MEMBERS(name, blocking, started)   \
  decltype(&MPI_##blocking) name = MPI_##blocking; \
  decltype(&MPI_##started) start_##name = MPI_##started;
  BENCHED_VERBS(BENCHED_MEMBERS)
#undef BENCHED_MEMBERS
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
#define BENCHED_FIND(name, blocking, started) \
  find(all.name, "PMPI_" #blocking);          \
  find(all.start_##name, "PMPI_" #started);
  BENCHED_VERBS(BENCHED_FIND)
#undef BENCHED_FIND
  find(all.wait, "PMPI_Wait");
  return all;
}

struct arrays {
  std::vector<float> in, out;
  int count;                        ///< elements of the vector, or of a piece where ranks have pieces
  std::vector<int> counts, begins;  ///< of the pieces
};

/// `pieces`: the size is that of all ranks' pieces.
struct measured_verb {
  char const* name;
  bool pieces;
  std::function<void(functions const&, arrays&)> once;
  std::function<void(functions const&, arrays&, MPI_Request*)> start;
};

// Both forms of a call, which differ in the request.
#define BENCHED(name, pieces, ...)                                                                                       \
  measured_verb {                                                                                                        \
#name, pieces,                                                                                                       \
        [](functions const& by,                                                                                          \
           [[maybe_unused]] arrays&                                                                                      \
               a) { by.name(__VA_ARGS__, MPI_COMM_WORLD); },                                                             \
                                                          [](functions const& by, [[maybe_unused]] arrays& a,            \
                                                             MPI_Request*                                                \
                                                                 r) { by.start_##name(__VA_ARGS__, MPI_COMM_WORLD, r); } \
  }

inline std::vector<measured_verb> const verbs = {
    BENCHED(allreduce, false, a.in.data(), a.out.data(), a.count, MPI_FLOAT, MPI_SUM),
    BENCHED(reduce, false, a.in.data(), a.out.data(), a.count, MPI_FLOAT, MPI_SUM, 0),
    BENCHED(reduce_scatter, true, a.in.data(), a.out.data(), a.count, MPI_FLOAT, MPI_SUM),
    BENCHED(allgather, true, a.in.data(), a.count, MPI_FLOAT, a.out.data(), a.count, MPI_FLOAT),
    BENCHED(allgatherv, true, a.in.data(), a.count, MPI_FLOAT, a.out.data(), a.counts.data(), a.begins.data(),
            MPI_FLOAT),
    BENCHED(gather, true, a.in.data(), a.count, MPI_FLOAT, a.out.data(), a.count, MPI_FLOAT, 0),
    BENCHED(gatherv, true, a.in.data(), a.count, MPI_FLOAT, a.out.data(), a.counts.data(), a.begins.data(), MPI_FLOAT,
            0),
    BENCHED(scatter, true, a.in.data(), a.count, MPI_FLOAT, a.out.data(), a.count, MPI_FLOAT, 0),
    BENCHED(scatterv, true, a.in.data(), a.counts.data(), a.begins.data(), MPI_FLOAT, a.out.data(), a.count, MPI_FLOAT,
            0),
    BENCHED(alltoall, true, a.in.data(), a.count, MPI_FLOAT, a.out.data(), a.count, MPI_FLOAT),
    BENCHED(alltoallv, true, a.in.data(), a.counts.data(), a.begins.data(), MPI_FLOAT, a.out.data(), a.counts.data(),
            a.begins.data(), MPI_FLOAT),
    BENCHED(broadcast, false, a.out.data(), a.count, MPI_FLOAT, 0),
    measured_verb{"barrier", false, [](functions const& by, arrays&) { by.barrier(MPI_COMM_WORLD); },
                  [](functions const& by, arrays&, MPI_Request* r) { by.start_barrier(MPI_COMM_WORLD, r); }},
    BENCHED(scan, false, a.in.data(), a.out.data(), a.count, MPI_FLOAT, MPI_SUM),
    BENCHED(exscan, false, a.in.data(), a.out.data(), a.count, MPI_FLOAT, MPI_SUM),
};
#undef BENCHED

inline arrays arrays_for(measured_verb const& what, std::size_t bytes) {
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::size_t const pieces = what.pieces ? static_cast<std::size_t>(ranks) : 1;
  std::size_t const count = std::max<std::size_t>(bytes / sizeof(float) / pieces, 1);
  arrays made{
      std::vector<float>(count * pieces, 1), std::vector<float>(count * pieces), static_cast<int>(count), {}, {}};
  for (std::size_t r = 0; r < pieces; ++r) {
    made.counts.push_back(made.count);
    made.begins.push_back(static_cast<int>(r) * made.count);
  }
  return made;
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
