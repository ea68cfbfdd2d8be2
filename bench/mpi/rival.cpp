// SPDX-License-Identifier: Apache-2.0
// One process per rank. Rank 0 reads orders from its standard input; the others sleep on a word that all of them share.
#include <mpi.h>

#include <cstdlib>
#include <iostream>

#include "bench/mpi/playing.hpp"
#include "numa/binding.hpp"

namespace coset::measure {
namespace {

/// One collective of this rank; returns where its result is.
std::byte const* call(problem const& p, rank_t rank, std::byte* in, std::byte* out) {
  int const count = static_cast<int>(p.count), piece = static_cast<int>(p.count / p.ranks);
  MPI_Datatype const type = type_of(p.element);
  MPI_Op const op = operation_of(p.operation);
  switch (p.what) {
    case verb::reduce:
      MPI_Reduce(in, out, count, type, op, 0, MPI_COMM_WORLD);
      return out;
    case verb::reduce_scatter:
      MPI_Reduce_scatter_block(in, out, piece, type, op, MPI_COMM_WORLD);
      return out;
    case verb::allgather:
      MPI_Allgather(in, piece, type, out, piece, type, MPI_COMM_WORLD);
      return out;
    case verb::broadcast:
      MPI_Bcast(rank == 0 ? in : out, count, type, 0, MPI_COMM_WORLD);
      return rank == 0 ? in : out;
    case verb::gather:
      MPI_Gather(in, piece, type, out, piece, type, 0, MPI_COMM_WORLD);
      return out;
    case verb::scatter:
      MPI_Scatter(in, piece, type, out, piece, type, 0, MPI_COMM_WORLD);
      return out;
    case verb::all_to_all:
      MPI_Alltoall(in, piece, type, out, piece, type, MPI_COMM_WORLD);
      return out;
    case verb::scan:
      MPI_Scan(in, out, count, type, op, MPI_COMM_WORLD);
      return out;
    case verb::barrier:
      MPI_Barrier(MPI_COMM_WORLD);
      return out;
    case verb::exclusive_scan:
      MPI_Exscan(in, out, count, type, op, MPI_COMM_WORLD);
      return out;
    default:  // an allreduce, and what MPI has nothing nearer to
      MPI_Allreduce(in, out, count, type, op, MPI_COMM_WORLD);
      return out;
  }
}

record burst(mpi_order const& order, rank_t rank) {
  workload const work(order.shape);
  return play(
      order, work, rank, [] { MPI_Barrier(MPI_COMM_WORLD); },
      [&] { return call(order.shape, rank, work.input(rank), work.output(rank)); });
}

/// From rank 0 to the others: what to do next, or that there is nothing more to do.
struct rival_order {
  bool closed;
  mpi_order what;
};

void serve(rank_t rank, rank_t ranks) {
  auto& d = *shared_desk<rival_order>(MPI_COMM_WORLD);
  if (rank == 0) std::cout << "ready" << std::endl;
  for (std::uint32_t last = 0;; ++last) {
    rival_order order = {};
    if (rank == 0) {
      order.closed = !(std::cin >> order.what);
      order.what.shape.ranks = ranks;
      d.announce(order);
    } else {
      order = d.taken_after(last);
    }
    if (order.closed) return;
    record const all = gathered(MPI_COMM_WORLD, burst(order.what, rank), ranks);
    if (rank != 0) continue;
    std::cout << all.wrong << ' ' << all.nanoseconds.size();
    for (double const n : all.nanoseconds) std::cout << ' ' << n;
    std::cout << std::endl;
  }
}

}  // namespace
}  // namespace coset::measure

/// Its arguments: the processor of each rank.
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc > rank + 1) coset::numa::bind_this_thread(static_cast<unsigned>(std::atoi(argv[rank + 1])));
  coset::measure::serve(static_cast<coset::rank_t>(rank), static_cast<coset::rank_t>(ranks));
  MPI_Finalize();
}
