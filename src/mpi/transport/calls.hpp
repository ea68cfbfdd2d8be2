// SPDX-License-Identifier: Apache-2.0
// MPI's calls with exceptions and owners, as far as this library needs them.
#pragma once

#include <mpi.h>

#include <chrono>
#include <exception>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coset/error.hpp"

namespace coset::inline COSET_ABI::mpi {

/// Throws mpi::error with the library's own words unless the call succeeded.
void require(int code, char const* call);

bool is_initialized() noexcept;  ///< by MPI_Init or MPI_Init_thread: not by MPI's sessions
bool is_finalized() noexcept;    ///< no other call is allowed then
bool is_of_parent() noexcept;    ///< in a forked child: MPI was initialised before

/// How long to wait for other processes; zero: for ever.
using patience = std::chrono::nanoseconds;

/// A communicator whose errors are returned. Freed with its owner, collectively, unless let_go() was called.
class communicator {
 public:
  communicator() = default;
  communicator(communicator&& other) noexcept : own_(std::exchange(other.own_, MPI_COMM_NULL)) {}
  communicator& operator=(communicator&& other) noexcept {
    std::swap(own_, other.own_);
    return *this;
  }
  ~communicator();

  /// Collective. `meanwhile` is called while this process waits for others.
  static communicator duplicate_of(MPI_Comm, std::function<void()> const& meanwhile = {});
  /// Of the processes that share memory with this one.
  static communicator host_of(MPI_Comm);
  /// Collective over the whole: of the processes that belong to the part, in the order of `place`; null elsewhere.
  static communicator part_of(MPI_Comm whole, bool belongs, int place);

  int rank() const;
  int size() const;
  MPI_Comm get() const noexcept { return own_; }
  /// If a process is gone, a collective free would wait for it for ever.
  void let_go() noexcept { own_ = MPI_COMM_NULL; }

 private:
  explicit communicator(MPI_Comm own);
  MPI_Comm own_ = MPI_COMM_NULL;
};

/// Waits for a request, calling `meanwhile` between looks. Throws mpi::error if it fails, and at the deadline, which
/// gives the request up.
void await(MPI_Request, patience, char const* what, std::function<void()> const& meanwhile = {});

/// Collective: waits until all processes are here. Unlike MPI_Barrier it frees the processor in between.
void meet(communicator const& all);

/// Collective: what every process has said, in the order of their ranks. Takes memory and time for each process, so it
/// belongs to founding.
template <class T>
std::vector<T> gather_from_all(communicator const& all, T const& mine) {
  std::vector<T> said(static_cast<std::size_t>(all.size()));
  MPI_Request request;
  require(MPI_Iallgather(&mine, sizeof(T), MPI_BYTE, said.data(), sizeof(T), MPI_BYTE, all.get(), &request),
          "MPI_Iallgather");
  await(request, {}, "all processes");
  return said;
}

/// Collective: the values of all processes combined, in any order.
template <class T>
T reduce_over_all(communicator const& all, T const& mine, MPI_Datatype type, MPI_Op op, patience longest = {},
                  std::function<void()> const& meanwhile = {}, char const* what = "all processes") {
  struct exchange {
    T mine, together;
  };
  // MPI may still use the buffers of a request that was given up, so they are left to MPI.
  auto* const words = new exchange{mine, mine};
  MPI_Request request;
  require(MPI_Iallreduce(&words->mine, &words->together, 1, type, op, all.get(), &request), "MPI_Iallreduce");
  await(request, longest, what, meanwhile);
  T const together = words->together;
  delete words;
  return together;
}

/// Collective: either every process does its own action, or all throw. A process whose action throws rethrows that
/// exception, the others throw mpi::error, so that no process continues alone.
template <class Own>
void all_or_none(communicator const& all, Own&& own, std::string_view what) {
  std::exception_ptr thrown;
  try {
    own();
  } catch (std::exception const&) {
    thrown = std::current_exception();
  }
  constexpr int none = std::numeric_limits<int>::max();
  int const first = reduce_over_all(all, thrown ? all.rank() : none, MPI_INT, MPI_MIN);
  if (thrown) std::rethrow_exception(thrown);
  if (first != none) throw error("process " + std::to_string(first) + std::string(what));
}

}  // namespace coset::mpi
