// SPDX-License-Identifier: Apache-2.0
// Operations in flight: nonblocking and persistent ones. A request of MPI's stands for each: a receive of this process
// from itself, which the operation's end sends to. So MPI's own functions wait for it, test it, and free it.
#pragma once

#include <mpi.h>

#include <atomic>
#include <functional>

#include "mpi/preload/call.hpp"
#include "mpi/preload/real.hpp"

namespace coset::interpose {

/// How many operations are in flight, of whatever communicator.
inline std::atomic<int> in_flight = 0;
inline bool none_in_flight() noexcept { return in_flight.load(std::memory_order_relaxed) == 0; }

/// Lets those in flight go on. Any thread may call it at any time. Errors are reported, which may not return.
void progress();

/// Between two looks of a thread that waits while operations are in flight.
class patience {
 public:
  void look() noexcept;

 private:
  int looks_ = 0;
};

/// As MPI_Wait, while operations in flight go on.
int wait_for(MPI_Request, MPI_Status*);

/// After MPI_Init. Where MPI's own waits can be told to let operations in flight go on, too, nothing else has to.
void begin_flights();
/// Before MPI_Finalize.
void end_flights() noexcept;

/// Of a team that has been founded, this process's member: whether those that wait may spin.
void hear_of_team(coset_member*);

/// Whether MPI is at MPI_THREAD_MULTIPLE.
bool is_multithreaded() noexcept;

/// What the calling thread does while it waits within MPI.
enum class within_mpi {
  goes_on,  ///< nothing is in flight that this thread would have to bring on, or MPI's waits do
  polls     ///< it must not wait there: operations in flight may be what others wait for
};
/// Of calls that other processes need not answer by the same function.
within_mpi alone() noexcept;
/// Of collectives, for which all processes have to decide alike: some may have operations in flight of which others know
/// nothing.
within_mpi together(MPI_Comm) noexcept;

/// What MPI would do in one call, or begun and waited for while operations in flight go on.
template <class Blocking, class Start>
int blocking_or_polled(within_mpi how, Blocking const& blocking, Start const& start,
                       MPI_Status* status = MPI_STATUS_IGNORE) {
  if (how == within_mpi::goes_on) return blocking();
  MPI_Request request = MPI_REQUEST_NULL;
  if (int const code = start(&request); code != MPI_SUCCESS) return code;
  return wait_for(request, status);
}

/// Before collectives that can only wait: returns once all processes of the communicator are in this call. Then none of
/// them waits for an operation that another has in flight before it calls.
int meet_before(MPI_Comm);

/// Carries it out. Operations in flight go on meanwhile.
int run(prepared&&);
/// The same of the communicator's latest call, while nothing is in flight.
int run_again(attachment&, arguments const&);
/// Begins it; *request completes with it.
int launch(prepared&&, MPI_Request* request);

/// Begins it; a message of that tag to this process itself completes it. `keeps_tag`: it is used again.
void take_off(prepared&&, int tag, bool keeps_tag);

void complete_all_of(attachment&) noexcept;
/// Whether something is in flight or `is_used`; then it is called once neither is true any more.
bool is_put_off(std::function<bool()> is_used, std::function<void()> call);
/// After an answer of `is_used` may have changed.
void look_whether_unused();

}  // namespace coset::interpose
