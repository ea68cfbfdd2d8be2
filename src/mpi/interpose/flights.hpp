// SPDX-License-Identifier: Apache-2.0
// Operations in flight: nonblocking and persistent ones. A request of MPI's stands for each: a receive of this process
// from itself, which the operation's end sends to. So MPI's own functions wait for it, test it, and free it.
#pragma once

#include <mpi.h>

#include <atomic>
#include <functional>

#include "mpi/interpose/call.hpp"
#include "mpi/interpose/real.hpp"

namespace coset::interpose {

/// How many operations are in flight, of whatever communicator.
inline std::atomic<int> in_flight = 0;
inline bool none_in_flight() noexcept { return in_flight.load(std::memory_order_relaxed) == 0; }

/// Lets those in flight go on. Any thread may call it at any time.
void progress() noexcept;

/// Between two looks of a thread that waits while operations are in flight.
class patience {
 public:
  void look() noexcept;

 private:
  int looks_ = 0;
};

/// As MPI_Wait, while operations in flight go on.
int wait_for(MPI_Request, MPI_Status*);

/// What MPI would do in one call, or where operations are in flight begins it and waits while they go on.
template <class Blocking, class Start>
int while_in_flight(Blocking const& blocking, Start const& start, MPI_Status* status = MPI_STATUS_IGNORE) {
  if (is_inside || none_in_flight()) return blocking();
  MPI_Request request = MPI_REQUEST_NULL;
  if (int const code = start(&request); code != MPI_SUCCESS) return code;
  return wait_for(request, status);
}

/// Carries it out. If other operations are in flight, they go on meanwhile.
int run(prepared&&);
/// Begins it; *request completes with it.
int launch(prepared&&, MPI_Request* request);

/// A request that prepares and begins the call at each MPI_Start().
int make_persistent(attachment&, arguments const&, MPI_Request* request);
/// Whether it is one of those; then what MPI_Start() returns.
bool begin_persistent(MPI_Request, int& code);
/// Of MPI_Request_free, which does the rest.
void forget_persistent(MPI_Request) noexcept;

void complete_all_of(attachment&) noexcept;
/// Once nothing is in flight, which may be now.
void when_landed(std::function<void()>);

/// Before MPI_Finalize.
void end_flights() noexcept;

}  // namespace coset::interpose
