// SPDX-License-Identifier: Apache-2.0
#include "forms.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <type_traits>
#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

namespace coset::interpose_test {
namespace {

/// Open MPI has these as an extension.
#if defined(OPEN_MPI)
#define PERSISTENT(name) MPIX_##name##_init
#else
#define PERSISTENT(name) MPI_##name##_init
#endif

#if MPI_VERSION >= 4
std::vector<MPI_Count> lengthened(std::vector<int> const& all) { return {all.begin(), all.end()}; }
std::vector<MPI_Aint> placed(std::vector<int> const& all) { return {all.begin(), all.end()}; }
#endif

/// Calls `each` of the verb with its arguments, whose counts and places are of these types.
template <class Functions, class Counts, class Places, class... More>
int with_arguments(Functions const& f, call const& c, Counts const& counts, Places const& places, More... more) {
  switch (c.what) {
    case verb::allreduce:
      return f.allreduce(c.in, c.out, c.count, c.type, c.by, c.on, more...);
    case verb::reduce:
      return f.reduce(c.in, c.out, c.count, c.type, c.by, c.root, c.on, more...);
    case verb::reduce_scatter:
      return f.reduce_scatter(c.in, c.out, counts.data(), c.type, c.by, c.on, more...);
    case verb::reduce_scatter_block:
      return f.reduce_scatter_block(c.in, c.out, c.count, c.type, c.by, c.on, more...);
    case verb::allgather:
      return f.allgather(c.in, c.count, c.type, c.out, c.count, c.type, c.on, more...);
    case verb::allgatherv:
      return f.allgatherv(c.in, c.count, c.type, c.out, counts.data(), places.data(), c.type, c.on, more...);
    case verb::gather:
      return f.gather(c.in, c.count, c.type, c.out, c.count, c.type, c.root, c.on, more...);
    case verb::gatherv:
      return f.gatherv(c.in, c.count, c.type, c.out, counts.data(), places.data(), c.type, c.root, c.on, more...);
    case verb::scatter:
      return f.scatter(c.in, c.count, c.type, c.out, c.count, c.type, c.root, c.on, more...);
    case verb::scatterv:
      return f.scatterv(c.in, counts.data(), places.data(), c.type, c.out, c.count, c.type, c.root, c.on, more...);
    case verb::alltoall:
      return f.alltoall(c.in, c.count, c.type, c.out, c.count, c.type, c.on, more...);
    case verb::broadcast:
      return f.broadcast(c.out, c.count, c.type, c.root, c.on, more...);
    case verb::barrier:
      return f.barrier(c.on, more...);
    case verb::scan:
      return f.scan(c.in, c.out, c.count, c.type, c.by, c.on, more...);
    case verb::exclusive_scan:
      return f.exclusive_scan(c.in, c.out, c.count, c.type, c.by, c.on, more...);
  }
  return MPI_ERR_OTHER;
}

struct blocking_functions {
  decltype(&MPI_Allreduce) allreduce = MPI_Allreduce;
  decltype(&MPI_Reduce) reduce = MPI_Reduce;
  decltype(&MPI_Reduce_scatter) reduce_scatter = MPI_Reduce_scatter;
  decltype(&MPI_Reduce_scatter_block) reduce_scatter_block = MPI_Reduce_scatter_block;
  decltype(&MPI_Allgather) allgather = MPI_Allgather;
  decltype(&MPI_Allgatherv) allgatherv = MPI_Allgatherv;
  decltype(&MPI_Gather) gather = MPI_Gather;
  decltype(&MPI_Gatherv) gatherv = MPI_Gatherv;
  decltype(&MPI_Scatter) scatter = MPI_Scatter;
  decltype(&MPI_Scatterv) scatterv = MPI_Scatterv;
  decltype(&MPI_Alltoall) alltoall = MPI_Alltoall;
  decltype(&MPI_Bcast) broadcast = MPI_Bcast;
  decltype(&MPI_Barrier) barrier = MPI_Barrier;
  decltype(&MPI_Scan) scan = MPI_Scan;
  decltype(&MPI_Exscan) exclusive_scan = MPI_Exscan;
};

struct nonblocking_functions {
  decltype(&MPI_Iallreduce) allreduce = MPI_Iallreduce;
  decltype(&MPI_Ireduce) reduce = MPI_Ireduce;
  decltype(&MPI_Ireduce_scatter) reduce_scatter = MPI_Ireduce_scatter;
  decltype(&MPI_Ireduce_scatter_block) reduce_scatter_block = MPI_Ireduce_scatter_block;
  decltype(&MPI_Iallgather) allgather = MPI_Iallgather;
  decltype(&MPI_Iallgatherv) allgatherv = MPI_Iallgatherv;
  decltype(&MPI_Igather) gather = MPI_Igather;
  decltype(&MPI_Igatherv) gatherv = MPI_Igatherv;
  decltype(&MPI_Iscatter) scatter = MPI_Iscatter;
  decltype(&MPI_Iscatterv) scatterv = MPI_Iscatterv;
  decltype(&MPI_Ialltoall) alltoall = MPI_Ialltoall;
  decltype(&MPI_Ibcast) broadcast = MPI_Ibcast;
  decltype(&MPI_Ibarrier) barrier = MPI_Ibarrier;
  decltype(&MPI_Iscan) scan = MPI_Iscan;
  decltype(&MPI_Iexscan) exclusive_scan = MPI_Iexscan;
};

struct persistent_functions {
  decltype(&PERSISTENT(Allreduce)) allreduce = PERSISTENT(Allreduce);
  decltype(&PERSISTENT(Reduce)) reduce = PERSISTENT(Reduce);
  decltype(&PERSISTENT(Reduce_scatter)) reduce_scatter = PERSISTENT(Reduce_scatter);
  decltype(&PERSISTENT(Reduce_scatter_block)) reduce_scatter_block = PERSISTENT(Reduce_scatter_block);
  decltype(&PERSISTENT(Allgather)) allgather = PERSISTENT(Allgather);
  decltype(&PERSISTENT(Allgatherv)) allgatherv = PERSISTENT(Allgatherv);
  decltype(&PERSISTENT(Gather)) gather = PERSISTENT(Gather);
  decltype(&PERSISTENT(Gatherv)) gatherv = PERSISTENT(Gatherv);
  decltype(&PERSISTENT(Scatter)) scatter = PERSISTENT(Scatter);
  decltype(&PERSISTENT(Scatterv)) scatterv = PERSISTENT(Scatterv);
  decltype(&PERSISTENT(Alltoall)) alltoall = PERSISTENT(Alltoall);
  decltype(&PERSISTENT(Bcast)) broadcast = PERSISTENT(Bcast);
  decltype(&PERSISTENT(Barrier)) barrier = PERSISTENT(Barrier);
  decltype(&PERSISTENT(Scan)) scan = PERSISTENT(Scan);
  decltype(&PERSISTENT(Exscan)) exclusive_scan = PERSISTENT(Exscan);
};

#if MPI_VERSION >= 4
struct long_blocking_functions {
  decltype(&MPI_Allreduce_c) allreduce = MPI_Allreduce_c;
  decltype(&MPI_Reduce_c) reduce = MPI_Reduce_c;
  decltype(&MPI_Reduce_scatter_c) reduce_scatter = MPI_Reduce_scatter_c;
  decltype(&MPI_Reduce_scatter_block_c) reduce_scatter_block = MPI_Reduce_scatter_block_c;
  decltype(&MPI_Allgather_c) allgather = MPI_Allgather_c;
  decltype(&MPI_Allgatherv_c) allgatherv = MPI_Allgatherv_c;
  decltype(&MPI_Gather_c) gather = MPI_Gather_c;
  decltype(&MPI_Gatherv_c) gatherv = MPI_Gatherv_c;
  decltype(&MPI_Scatter_c) scatter = MPI_Scatter_c;
  decltype(&MPI_Scatterv_c) scatterv = MPI_Scatterv_c;
  decltype(&MPI_Alltoall_c) alltoall = MPI_Alltoall_c;
  decltype(&MPI_Bcast_c) broadcast = MPI_Bcast_c;
  decltype(&MPI_Barrier) barrier = MPI_Barrier;
  decltype(&MPI_Scan_c) scan = MPI_Scan_c;
  decltype(&MPI_Exscan_c) exclusive_scan = MPI_Exscan_c;
};

struct long_nonblocking_functions {
  decltype(&MPI_Iallreduce_c) allreduce = MPI_Iallreduce_c;
  decltype(&MPI_Ireduce_c) reduce = MPI_Ireduce_c;
  decltype(&MPI_Ireduce_scatter_c) reduce_scatter = MPI_Ireduce_scatter_c;
  decltype(&MPI_Ireduce_scatter_block_c) reduce_scatter_block = MPI_Ireduce_scatter_block_c;
  decltype(&MPI_Iallgather_c) allgather = MPI_Iallgather_c;
  decltype(&MPI_Iallgatherv_c) allgatherv = MPI_Iallgatherv_c;
  decltype(&MPI_Igather_c) gather = MPI_Igather_c;
  decltype(&MPI_Igatherv_c) gatherv = MPI_Igatherv_c;
  decltype(&MPI_Iscatter_c) scatter = MPI_Iscatter_c;
  decltype(&MPI_Iscatterv_c) scatterv = MPI_Iscatterv_c;
  decltype(&MPI_Ialltoall_c) alltoall = MPI_Ialltoall_c;
  decltype(&MPI_Ibcast_c) broadcast = MPI_Ibcast_c;
  decltype(&MPI_Ibarrier) barrier = MPI_Ibarrier;
  decltype(&MPI_Iscan_c) scan = MPI_Iscan_c;
  decltype(&MPI_Iexscan_c) exclusive_scan = MPI_Iexscan_c;
};

struct long_persistent_functions {
  decltype(&MPI_Allreduce_init_c) allreduce = MPI_Allreduce_init_c;
  decltype(&MPI_Reduce_init_c) reduce = MPI_Reduce_init_c;
  decltype(&MPI_Reduce_scatter_init_c) reduce_scatter = MPI_Reduce_scatter_init_c;
  decltype(&MPI_Reduce_scatter_block_init_c) reduce_scatter_block = MPI_Reduce_scatter_block_init_c;
  decltype(&MPI_Allgather_init_c) allgather = MPI_Allgather_init_c;
  decltype(&MPI_Allgatherv_init_c) allgatherv = MPI_Allgatherv_init_c;
  decltype(&MPI_Gather_init_c) gather = MPI_Gather_init_c;
  decltype(&MPI_Gatherv_init_c) gatherv = MPI_Gatherv_init_c;
  decltype(&MPI_Scatter_init_c) scatter = MPI_Scatter_init_c;
  decltype(&MPI_Scatterv_init_c) scatterv = MPI_Scatterv_init_c;
  decltype(&MPI_Alltoall_init_c) alltoall = MPI_Alltoall_init_c;
  decltype(&MPI_Bcast_init_c) broadcast = MPI_Bcast_init_c;
  decltype(&MPI_Barrier_init) barrier = MPI_Barrier_init;
  decltype(&MPI_Scan_init_c) scan = MPI_Scan_init_c;
  decltype(&MPI_Exscan_init_c) exclusive_scan = MPI_Exscan_init_c;
};
#endif

/// By the name under which the dynamic linker has it already.
void* mpi_itself() {
  static void* const library = [] {
    void* const found = dlopen(TESTED_MPI, RTLD_NOW | RTLD_NOLOAD);
    if (found == nullptr) {
      std::fprintf(stderr, "%s\n", dlerror());
      std::exit(1);
    }
    return found;
  }();
  return library;
}

template <class Function>
void find(Function& function, char const* name) {
  function = reinterpret_cast<Function>(dlsym(mpi_itself(), name));
}

blocking_functions of_mpi() {
  blocking_functions all;
  find(all.allreduce, "PMPI_Allreduce");
  find(all.reduce, "PMPI_Reduce");
  find(all.reduce_scatter, "PMPI_Reduce_scatter");
  find(all.reduce_scatter_block, "PMPI_Reduce_scatter_block");
  find(all.allgather, "PMPI_Allgather");
  find(all.allgatherv, "PMPI_Allgatherv");
  find(all.gather, "PMPI_Gather");
  find(all.gatherv, "PMPI_Gatherv");
  find(all.scatter, "PMPI_Scatter");
  find(all.scatterv, "PMPI_Scatterv");
  find(all.alltoall, "PMPI_Alltoall");
  find(all.broadcast, "PMPI_Bcast");
  find(all.barrier, "PMPI_Barrier");
  find(all.scan, "PMPI_Scan");
  find(all.exclusive_scan, "PMPI_Exscan");
  return all;
}

int waited_for(int code, MPI_Request& request) {
  if (code != MPI_SUCCESS) return code;
  return MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int started(int code, MPI_Request& request) {
  if (code == MPI_SUCCESS) code = MPI_Start(&request);
  if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (code == MPI_SUCCESS) code = MPI_Request_free(&request);
  return code;
}

}  // namespace

std::string name_of(verb what) {
  constexpr std::array names = {"allreduce", "reduce",     "reduce_scatter", "reduce_scatter_block",
                                "allgather", "allgatherv", "gather",         "gatherv",
                                "scatter",   "scatterv",   "alltoall",       "broadcast",
                                "barrier",   "scan",       "exclusive_scan"};
  return names[static_cast<std::size_t>(what)];
}

bool combines(verb what) { return what <= verb::reduce_scatter_block || what >= verb::scan; }

std::string name_of(form how) {
  constexpr std::array names = {"blocking",      "nonblocking",      "persistent",
                                "blocking long", "nonblocking long", "persistent long"};
  return names[static_cast<std::size_t>(how)];
}

int begin(call const& c, MPI_Request* request) {
  return with_arguments(nonblocking_functions{}, c, c.counts, c.places, request);
}

int make_persistent(call const& c, MPI_Request* request) {
  return with_arguments(persistent_functions{}, c, c.counts, c.places, MPI_INFO_NULL, request);
}

int carry_out_by_mpi(call const& c) { return with_arguments(of_mpi(), c, c.counts, c.places); }

int carry_out(call const& c, form how) {
  MPI_Request request = MPI_REQUEST_NULL;
  switch (how) {
    case form::blocking:
      return with_arguments(blocking_functions{}, c, c.counts, c.places);
    case form::nonblocking:
      return waited_for(begin(c, &request), request);
    case form::persistent:
      return started(make_persistent(c, &request), request);
#if MPI_VERSION >= 4
    case form::blocking_long:
      return with_arguments(long_blocking_functions{}, c, lengthened(c.counts), placed(c.places));
    case form::nonblocking_long: {
      auto const counts = lengthened(c.counts);
      auto const places = placed(c.places);
      return waited_for(with_arguments(long_nonblocking_functions{}, c, counts, places, &request), request);
    }
    case form::persistent_long: {
      auto const counts = lengthened(c.counts);
      auto const places = placed(c.places);
      return started(with_arguments(long_persistent_functions{}, c, counts, places, MPI_INFO_NULL, &request), request);
    }
#endif
    default:
      return MPI_ERR_OTHER;
  }
}

std::string said_by_all(std::string const& own) {
  blocking_functions const mpi = of_mpi();
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::string const line = own.empty() ? "" : "rank " + std::to_string(rank) + ": " + own + "\n";
  int const length = static_cast<int>(line.size());
  std::vector<int> lengths(static_cast<std::size_t>(ranks)), begins;
  mpi.allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, MPI_COMM_WORLD);
  int all = 0;
  for (int const each : lengths) {
    begins.push_back(all);
    all += each;
  }
  std::string words(static_cast<std::size_t>(all), ' ');
  mpi.allgatherv(line.data(), length, MPI_CHAR, words.data(), lengths.data(), begins.data(), MPI_CHAR, MPI_COMM_WORLD);
  return words;
}

}  // namespace coset::interpose_test
