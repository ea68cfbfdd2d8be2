// SPDX-License-Identifier: Apache-2.0
// What contestants over processes share: how they sleep between bursts, MPI's names, the loop around a collective.
#pragma once

#include <linux/futex.h>
#include <mpi.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <new>
#include <vector>

#include "bench/collectives/mpi/order.hpp"
#include "command/measure/machine/clock.hpp"

namespace coset::measure {

/// In the memory that the processes share. Rank 0 writes orders while the others sleep on it: waiting in MPI would
/// spin on the very processors that other contestants need. An order is only written once every reader has taken the
/// one before: who has no part in a burst may still be waking up when that burst is over.
template <class Order>
class desk {
 public:
  explicit desk(std::uint32_t readers) : readers_(readers) {}

  /// By rank 0 alone.
  void announce(Order const& order) {
    for (std::uint32_t taken; (taken = taken_) != announced_ * readers_;) sleep_on(taken_, taken);
    order_ = order;
    ++announced_;
    wake_all(announced_);
  }

  /// The order after `last` of them, by each reader in turn.
  Order taken_after(std::uint32_t last) {
    while (announced_ == last) sleep_on(announced_, last);
    Order const order = order_;
    ++taken_;
    wake_all(taken_);
    return order;
  }

 private:
  static void sleep_on(std::atomic<std::uint32_t>& word, std::uint32_t seen) {
    syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT, seen, nullptr, nullptr, 0);
  }
  static void wake_all(std::atomic<std::uint32_t>& word) {
    syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  }

  std::uint32_t const readers_;
  std::atomic<std::uint32_t> announced_ = 0, taken_ = 0;
  Order order_ = {};
};

template <class Order>
desk<Order>* shared_desk(MPI_Comm of) {
  int rank = 0, size = 0;
  MPI_Comm_rank(of, &rank);
  MPI_Comm_size(of, &size);
  MPI_Win window;
  void* mine = nullptr;
  MPI_Win_allocate_shared(rank == 0 ? MPI_Aint{sizeof(desk<Order>)} : 0, 1, MPI_INFO_NULL, of, &mine, &window);
  MPI_Aint bytes = 0;
  int unit = 0;
  MPI_Win_shared_query(window, 0, &bytes, &unit, &mine);
  if (rank == 0) new (mine) desk<Order>(static_cast<std::uint32_t>(size) - 1);
  MPI_Barrier(of);
  return static_cast<desk<Order>*>(mine);
}

inline MPI_Datatype type_of(element_kind e) {
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

inline MPI_Op operation_of(operation_kind o) {
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

struct record {
  std::vector<double> nanoseconds;
  unsigned long wrong = 0;
};

/// One rank's burst, as stage does for threads. `together()` is a barrier of all ranks, `collective()` one iteration's call,
/// which returns where this rank finds the result.
template <class Together, class Collective>
record play(mpi_order const& order, workload const& work, rank_t rank, Together&& together, Collective&& verb) {
  timing const timed = order.burst.timing;
  std::size_t const group = std::max<std::size_t>(1, order.burst.iterations / 64);
  record made;
  std::size_t k = 0;
  auto const step = [&] {
    std::uint64_t begin = ticks();
    if (rewrites(timed, k)) work.rewrite(rank, k);
    if (timed == timing::call) {
      together();
      begin = ticks();
    }
    std::byte const* const result = verb();
    std::uint64_t const called = ticks() - begin;
    if (reads(timed, k)) made.wrong += work.wrong(rank, result, input_of(timed, k));
    ++k;
    return timed == timing::call ? called : ticks() - begin;
  };
  together();
  while (k < order.burst.warmup) step();
  for (std::size_t s = 0; s < order.burst.iterations / group; ++s) {
    std::uint64_t spent = 0;
    for (std::size_t i = 0; i < group; ++i) spent += step();
    made.nanoseconds.push_back(static_cast<double>(spent) * nanoseconds_per_tick() / static_cast<double>(group));
  }
  return made;
}

/// Averaged over `ranks` of which each process of `of` brings the sum of its own; at process 0.
inline record gathered(MPI_Comm of, record const& mine, rank_t ranks) {
  record all{std::vector<double>(mine.nanoseconds.size()), 0};
  MPI_Reduce(mine.nanoseconds.data(), all.nanoseconds.data(), static_cast<int>(all.nanoseconds.size()), MPI_DOUBLE,
             MPI_SUM, 0, of);
  MPI_Reduce(&mine.wrong, &all.wrong, 1, MPI_UNSIGNED_LONG, MPI_SUM, 0, of);
  for (double& n : all.nanoseconds) n /= ranks;
  return all;
}

}  // namespace coset::measure
