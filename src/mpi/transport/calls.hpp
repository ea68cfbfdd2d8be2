// SPDX-License-Identifier: Apache-2.0
// MPI's calls with exceptions and owners, as far as this library needs them.
#pragma once

#include <mpi.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <span>
#include <utility>

#include "coset/error.hpp"
#include "runtime/failure/failure.hpp"

namespace coset::inline COSET_ABI::mpi {

/// Throws mpi::error; where there is no memory for its words, out_of_memory with the same words.
[[noreturn]] void fail(runtime::words const&);

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

/// Collective: what every process has said, in the order of their ranks, into as many places.
template <class T>
void gather_from_all(communicator const& all, T const& mine, std::span<T> said) {
  MPI_Request request;
  require(MPI_Iallgather(&mine, sizeof(T), MPI_BYTE, said.data(), sizeof(T), MPI_BYTE, all.get(), &request),
          "MPI_Iallgather");
  await(request, {}, "all processes");
}

/// How many elements of MPI's a value is.
template <class T>
inline constexpr int elements_of = 1;
template <class Each, std::size_t many>
inline constexpr int elements_of<std::array<Each, many>> = many;

/// What MPI reads and writes as long as a reduction is under way.
template <class T>
struct exchange {
  T mine, together;
};

/// Collective: the values of all processes combined, in any order. If await() throws because of the deadline or of
/// `meanwhile`, MPI may still use `room`, which has to stay where it is for good.
template <class T>
T reduce_over_all(communicator const& all, exchange<T>& room, T const& mine, MPI_Datatype type, MPI_Op op,
                  patience longest, std::function<void()> const& meanwhile, char const* what) {
  room = {mine, mine};
  MPI_Request request;
  require(MPI_Iallreduce(&room.mine, &room.together, elements_of<T>, type, op, all.get(), &request), "MPI_Iallreduce");
  await(request, longest, what, meanwhile);
  return room.together;
}

/// The same for ever, and without the heap. The room may lie on the stack: only a deadline gives a request up, and an
/// error of MPI_Test ends it.
template <class T>
T reduce_over_all(communicator const& all, T const& mine, MPI_Datatype type, MPI_Op op) {
  exchange<T> room{mine, mine};
  return reduce_over_all(all, room, mine, type, op, {}, {}, "all processes");
}

/// Collective: throws on all processes if this or another one has thrown in what it did for itself: there that exception, or
/// out_of_memory for a std::bad_alloc; on the others mpi::error. `what` says what the process does not do: "cannot make
/// its ranks".
void require_all_well(communicator const& all, std::exception_ptr const& thrown, char const* what);

/// Collective: either every process does its own action, or all throw, so that no process continues alone. What a
/// process does between two collectives goes through this if it allocates. Cost: one MPI_Iallreduce of four bytes.
template <class Own>
void all_or_none(communicator const& all, Own&& own, char const* what) {
  std::exception_ptr thrown;
  try {
    own();
  } catch (std::exception const&) {
    thrown = std::current_exception();
  }
  require_all_well(all, thrown, what);
}

/// What it says; "no memory" for std::bad_alloc, which says its name.
char const* said_by(std::exception_ptr const& thrown) noexcept;  ///< as long as `thrown` lives

/// Throws it, but for std::bad_alloc out_of_memory with these words.
[[noreturn]] void rethrow(std::exception_ptr const& thrown, runtime::words const& where_memory_is_short);

}  // namespace coset::mpi
