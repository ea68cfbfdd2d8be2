// SPDX-License-Identifier: Apache-2.0
// One process per rank. Rank 0 reads orders from its standard input; the others sleep on a word that all of them share,
// not in MPI, whose waiting spins on the very processors that other contestants need.
#include <linux/futex.h>
#include <mpi.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdlib>
#include <iostream>
#include <new>
#include <vector>

#include "bench/clock.hpp"
#include "bench/mpi/order.hpp"
#include "numa/binding.hpp"

namespace coset::bench {
namespace {

/// In the memory that the processes share. Written by rank 0 while the others sleep.
struct desk {
  std::atomic<std::uint32_t> orders;  ///< so far
  bool closed;
  mpi_order order;
};

desk* shared_desk(int rank) {
  MPI_Win window;
  void* mine = nullptr;
  MPI_Win_allocate_shared(rank == 0 ? MPI_Aint{sizeof(desk)} : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &window);
  MPI_Aint bytes = 0;
  int unit = 0;
  MPI_Win_shared_query(window, 0, &bytes, &unit, &mine);
  if (rank == 0) new (mine) desk();
  MPI_Barrier(MPI_COMM_WORLD);
  return static_cast<desk*>(mine);
}

std::uint32_t* word(std::atomic<std::uint32_t>& a) { return reinterpret_cast<std::uint32_t*>(&a); }

void announce(desk& d) {
  ++d.orders;
  syscall(SYS_futex, word(d.orders), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void await_order(desk& d, std::uint32_t last) {
  while (d.orders == last) syscall(SYS_futex, word(d.orders), FUTEX_WAIT, last, nullptr, nullptr, 0);
}

MPI_Datatype type_of(element_kind e) {
  switch (e) {
    case element_kind::int32:
      return MPI_INT32_T;
    case element_kind::int64:
      return MPI_INT64_T;
    case element_kind::float32:
      return MPI_FLOAT;
    case element_kind::float64:
      break;
  }
  return MPI_DOUBLE;
}

MPI_Op operation_of(operation_kind o) {
  switch (o) {
    case operation_kind::plus:
    case operation_kind::reproducible_plus:
      return MPI_SUM;
    case operation_kind::multiplies:
      return MPI_PROD;
    case operation_kind::minimum:
      return MPI_MIN;
    case operation_kind::maximum:
      break;
  }
  return MPI_MAX;
}

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
    case verb::scan:
      MPI_Scan(in, out, count, type, op, MPI_COMM_WORLD);
      return out;
    case verb::barrier:
      MPI_Barrier(MPI_COMM_WORLD);
      return out;
    default:
      MPI_Allreduce(in, out, count, type, op, MPI_COMM_WORLD);
      return out;
  }
}

struct record {
  std::vector<double> nanoseconds;
  unsigned long wrong = 0;
};

/// As stage does for threads.
record play(mpi_order const& order, rank_t rank) {
  workload const work(order.shape);
  std::byte *const in = work.input(rank), *const out = work.output(rank);
  bool const cycle = order.burst.timing == timing::cycle;
  std::size_t const group = std::max<std::size_t>(1, order.burst.iterations / 64);
  record made;
  std::size_t k = 0;
  auto const step = [&] {
    std::uint64_t begin = ticks();
    work.rewrite(rank, k);
    if (!cycle) {
      MPI_Barrier(MPI_COMM_WORLD);
      begin = ticks();
    }
    std::byte const* const result = call(order.shape, rank, in, out);
    std::uint64_t const called = ticks() - begin;
    made.wrong += work.wrong(rank, result, k++);
    return cycle ? ticks() - begin : called;
  };
  MPI_Barrier(MPI_COMM_WORLD);
  while (k < order.burst.warmup) step();
  for (std::size_t s = 0; s < order.burst.iterations / group; ++s) {
    std::uint64_t spent = 0;
    for (std::size_t i = 0; i < group; ++i) spent += step();
    made.nanoseconds.push_back(static_cast<double>(spent) * nanoseconds_per_tick() / static_cast<double>(group));
  }
  return made;
}

/// Averaged over the ranks, at rank 0.
record gathered(record const& mine, rank_t ranks) {
  record all{std::vector<double>(mine.nanoseconds.size()), 0};
  MPI_Reduce(mine.nanoseconds.data(), all.nanoseconds.data(), static_cast<int>(all.nanoseconds.size()), MPI_DOUBLE,
             MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce(&mine.wrong, &all.wrong, 1, MPI_UNSIGNED_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  for (double& n : all.nanoseconds) n /= ranks;
  return all;
}

void serve(rank_t rank, rank_t ranks) {
  desk& d = *shared_desk(static_cast<int>(rank));
  if (rank == 0) std::cout << "ready" << std::endl;
  for (std::uint32_t last = 0;; ++last) {
    if (rank == 0) {
      d.closed = !(std::cin >> d.order);
      d.order.shape.ranks = ranks;
      announce(d);
    } else {
      await_order(d, last);
    }
    if (d.closed) return;
    record const all = gathered(play(d.order, rank), ranks);
    if (rank != 0) continue;
    std::cout << all.wrong << ' ' << all.nanoseconds.size();
    for (double const n : all.nanoseconds) std::cout << ' ' << n;
    std::cout << std::endl;
  }
}

}  // namespace
}  // namespace coset::bench

/// Its arguments: the processor of each rank.
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc > rank + 1) coset::numa::bind_this_thread(static_cast<unsigned>(std::atoi(argv[rank + 1])));
  coset::bench::serve(static_cast<coset::rank_t>(rank), static_cast<coset::rank_t>(ranks));
  MPI_Finalize();
}
