// SPDX-License-Identifier: Apache-2.0
#include "mpi/interpose/flights.hpp"

#include <sched.h>

#include <algorithm>
#include <list>
#include <mutex>
#include <utility>

#include "mpi/interpose/real.hpp"
#include "mpi/interpose/tally.hpp"

namespace coset::interpose {

/// An operation in flight. Its team carries out as many of a communicator at once as members may have; the others wait
/// for their turn here.
struct operation {
  prepared call;
  int tag = 0;
  bool is_persistent = false;
  coset_request under_way = {};
  bool has_begun = false;
  coset_status status = COSET_SUCCESS;
};

namespace {

/// A member completes its first operation before it begins a ninth, and this must not wait.
constexpr std::size_t most_begun = 7;

struct persistent_call {
  attachment* of;
  arguments as;
  int tag;
  std::vector<MPI_Count> counts;
  std::vector<MPI_Aint> places;
};

/// What follows is guarded by `using_`. Recursive, as an operation of the program's own may call MPI.
std::recursive_mutex using_;
std::list<operation> all;
std::list<std::pair<MPI_Request, persistent_call>> persistent;
std::vector<std::function<void()>> after_landing;

MPI_Comm self = MPI_COMM_NULL;  ///< of this process alone, for the messages that complete requests
std::vector<int> free_tags;
int tags = 0;

MPI_Comm self_communicator() {
  if (self == MPI_COMM_NULL) PMPI_Comm_dup(MPI_COMM_SELF, &self);
  return self;
}

int take_tag() {
  if (free_tags.empty()) return tags++;
  int const tag = free_tags.back();
  free_tags.pop_back();
  return tag;
}

void begin_more(attachment& of) {
  while (of.begun < of.in_flight.size() && of.begun < most_begun) {
    operation& next = *of.in_flight[of.begun];
    next.status = next.call.is_empty ? COSET_SUCCESS : next.call.start(&next.under_way);
    next.has_begun = true;
    ++of.begun;
  }
}

bool is_complete(operation& one) {
  if (!one.has_begun) return false;
  if (one.status != COSET_SUCCESS || one.call.is_empty) return true;
  bool complete = false;
  one.status = coset_request_test(&one.under_way, &complete);
  return complete || one.status != COSET_SUCCESS;
}

/// An error is reported when it is found, as the request has no room for it.
void land(std::list<operation>::iterator at) {
  attachment& of = *at->call.of;
  std::erase(of.in_flight, &*at);
  --of.begun;
  if (at->status == COSET_SUCCESS && at->call.finish) at->call.finish();
  PMPI_Send(nullptr, 0, MPI_BYTE, 0, at->tag, self_communicator());
  if (!at->is_persistent) free_tags.push_back(at->tag);
  coset_status const status = at->status;
  all.erase(at);
  in_flight.fetch_sub(1, std::memory_order_relaxed);
  begin_more(of);
  if (status != COSET_SUCCESS) of.report(status);
}

void progress_all() {
  for (auto at = all.begin(); at != all.end();) {
    auto const next = std::next(at);
    if (is_complete(*at)) land(at);
    at = next;
  }
  if (all.empty()) {
    for (auto const& left : std::exchange(after_landing, {})) left();
  }
}

void take_off(prepared&& call, int tag, bool is_persistent) {
  attachment& of = *call.of;
  in_flight.fetch_add(1, std::memory_order_relaxed);
  operation& made = all.emplace_back(operation{.call = std::move(call), .tag = tag, .is_persistent = is_persistent});
  of.in_flight.push_back(&made);
  begin_more(of);
}

}  // namespace

void progress() noexcept {
  // Whoever holds it makes progress, too.
  std::unique_lock const lock(using_, std::try_to_lock);
  if (!lock.owns_lock() || is_inside) return;
  inside const layer;
  progress_all();
}

void patience::look() noexcept {
  constexpr int looks_before_yielding = 200;
  if (++looks_ > looks_before_yielding) sched_yield();
}

int wait_for(MPI_Request request, MPI_Status* status) {
  int complete = 0;
  for (patience between;; between.look()) {
    progress();
    int const code = real.Test(&request, &complete, status);
    if (code != MPI_SUCCESS || complete != 0) return code;
  }
}

int run(prepared&& call) {
  if (call.is_empty) return MPI_SUCCESS;
  attachment& of = *call.of;
  coset_status status = COSET_SUCCESS;
  if (none_in_flight()) {
    inside const layer;
    status = call.run();
    if (status == COSET_SUCCESS && call.finish) call.finish();
  } else {
    MPI_Request request = MPI_REQUEST_NULL;
    if (int const code = launch(std::move(call), &request); code != MPI_SUCCESS) return code;
    return wait_for(request, MPI_STATUS_IGNORE);
  }
  return of.report(status);
}

int launch(prepared&& call, MPI_Request* request) {
  inside const layer;
  std::lock_guard const lock(using_);
  int const tag = take_tag();
  int const code = PMPI_Irecv(nullptr, 0, MPI_BYTE, 0, tag, self_communicator(), request);
  if (code != MPI_SUCCESS) return code;
  take_off(std::move(call), tag, false);
  progress_all();
  return MPI_SUCCESS;
}

int make_persistent(attachment& of, arguments const& as, MPI_Request* request) {
  inside const layer;
  std::lock_guard const lock(using_);
  persistent_call made{&of, as, take_tag(), {}, {}};
  if (as.what == verb::reduce_scatter || as.what == verb::allgatherv) {
    for (int r = 0; r < of.size(); ++r) made.counts.push_back(as.of_ranks.count_of(r));
  }
  if (as.what == verb::allgatherv) {
    for (int r = 0; r < of.size(); ++r) made.places.push_back(as.of_ranks.place_of(r));
  }
  int const code = PMPI_Recv_init(nullptr, 0, MPI_BYTE, 0, made.tag, self_communicator(), request);
  if (code != MPI_SUCCESS) return code;
  auto& kept = persistent.emplace_back(*request, std::move(made)).second;
  kept.as.of_ranks = {.long_counts = kept.counts.data(), .long_places = kept.places.data()};
  return MPI_SUCCESS;
}

bool begin_persistent(MPI_Request request, int& code) {
  inside const layer;
  std::lock_guard const lock(using_);
  auto const at = std::ranges::find(persistent, request, &decltype(persistent)::value_type::first);
  if (at == persistent.end()) return false;
  persistent_call& call = at->second;
  prospect made = prepare(*call.of, call.as);
  code = real.Start(&request);
  if (code == MPI_SUCCESS) take_off(std::move(made.call), call.tag, true);
  return true;
}

void forget_persistent(MPI_Request request) noexcept {
  std::lock_guard const lock(using_);
  auto const at = std::ranges::find(persistent, request, &decltype(persistent)::value_type::first);
  if (at == persistent.end()) return;
  free_tags.push_back(at->second.tag);
  persistent.erase(at);
}

void complete_all_of(attachment& of) noexcept {
  for (patience between;; between.look()) {
    std::lock_guard const lock(using_);
    if (of.in_flight.empty()) return;
    progress_all();
  }
}

void when_landed(std::function<void()> left) {
  inside const layer;
  std::lock_guard const lock(using_);
  if (all.empty())
    left();
  else
    after_landing.push_back(std::move(left));
}

void end_flights() noexcept {
  if (self != MPI_COMM_NULL) PMPI_Comm_free(&self);
}

}  // namespace coset::interpose
