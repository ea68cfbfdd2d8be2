// SPDX-License-Identifier: Apache-2.0
#include "mpi/preload/makers.hpp"

#include <atomic>

#include "mpi/preload/flights/flights.hpp"
#include "mpi/preload/real.hpp"

namespace coset::interpose {
namespace {

/// How many threads of the program are making a communicator; or that a team is being founded.
std::atomic<int> makers = 0;
constexpr int founds = -1;

}  // namespace

making::making() noexcept : counts_(is_multithreaded() && !passes_through()) {
  if (!counts_) return;
  for (int seen = makers.load();;) {
    if (seen == founds) {
      makers.wait(founds);
      seen = makers.load();
    } else if (makers.compare_exchange_weak(seen, seen + 1)) {
      return;
    }
  }
}

making::~making() {
  if (counts_) makers.fetch_sub(1);
}

founding_turn::founding_turn(MPI_Comm on) {
  int none = 0;
  is_taken_ = makers.compare_exchange_strong(none, founds);
  int const told = is_taken_ ? 1 : 0;
  int all = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  is_ours_ = real.Iallreduce(&told, &all, 1, MPI_INT, MPI_MIN, on, &request) == MPI_SUCCESS &&
             wait_for(request, MPI_STATUS_IGNORE) == MPI_SUCCESS && all != 0;
}

founding_turn::~founding_turn() {
  if (!is_taken_) return;
  makers.store(0);
  makers.notify_all();
}

}  // namespace coset::interpose
