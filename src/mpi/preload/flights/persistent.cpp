// SPDX-License-Identifier: Apache-2.0
#include "mpi/preload/flights/persistent.hpp"

#include <algorithm>
#include <atomic>
#include <list>
#include <mutex>
#include <utility>
#include <vector>

#include "mpi/preload/flights/flights.hpp"
#include "mpi/preload/flights/self.hpp"
#include "mpi/preload/real.hpp"

namespace coset::interpose {
namespace {

struct persistent_call {
  MPI_Request request;
  attachment *lender, *of;
  arguments as;
  int tag;
  std::vector<MPI_Count> counts = {};
  std::vector<MPI_Aint> places = {};
  std::vector<std::size_t> told = {};
};

std::mutex keeping;
/// Never destroyed: programs may use requests in destructors of static objects.
auto& kept = *new std::list<persistent_call>;
/// MPI_Start of other requests passes here as well.
std::atomic<std::size_t> how_many = 0;

persistent_call* find(MPI_Request request) {
  std::lock_guard const lock(keeping);
  auto const at = std::ranges::find(kept, request, &persistent_call::request);
  return at != kept.end() ? &*at : nullptr;
}

template <class Uses>
bool any(Uses const& uses) noexcept {
  std::lock_guard const lock(keeping);
  return std::ranges::any_of(kept, uses);
}

/// Once for all starts.
int hear_counts(attachment& of, prepared& call) {
  if (!call.tells_counts) return MPI_SUCCESS;
  attachment::failure failed;
  {
    inside const layer;
    team_call telling = call.telling();
    telling.of = &of;
    coset_status const status = telling.run();
    if (status != COSET_SUCCESS) failed = of.failure_of(status, call.by_program.in_words());
    call.hear();
  }
  return attachment::call_handler(failed);
}

}  // namespace

int make_persistent(attachment& lender, attachment& of, arguments const& as, prepared& tried, MPI_Request* request) {
  if (int const code = hear_counts(of, tried); code != MPI_SUCCESS) {
    lender.give_back(&of);
    return code;
  }
  inside const layer;
  persistent_call made{MPI_REQUEST_NULL, &lender, &of, as, take_tag()};
  int const code = PMPI_Recv_init(nullptr, 0, MPI_BYTE, 0, made.tag, self(), request);
  if (code != MPI_SUCCESS) {
    give_back_tag(made.tag);
    lender.give_back(&of);
    return code;
  }
  made.request = *request;
  bool const varies = as.varies && has_all_pieces(of, as), has_places = varies && detail::only_moves(as.what);
  for (int r = 0; varies && r < of.size(); ++r) made.counts.push_back(as.of_ranks.count_of(r));
  for (int r = 0; has_places && r < of.size(); ++r) made.places.push_back(as.of_ranks.place_of(r));
  std::lock_guard const lock(keeping);
  persistent_call& one = kept.emplace_back(std::move(made));
  one.as.of_ranks = {};
  if (varies) one.as.of_ranks = {.long_counts = one.counts.data(), .long_places = one.places.data()};
  if (as.varies && detail::is_rooted(as.what)) {
    one.told = tried.counts;
    one.as.of_ranks.told = &one.told;
  }
  how_many.store(kept.size(), std::memory_order_relaxed);
  return MPI_SUCCESS;
}

/// A program does not start and free a request at once, so it stays where it is.
bool begin_persistent(MPI_Request request, int& code) {
  if (how_many.load(std::memory_order_relaxed) == 0) return false;
  persistent_call* const call = find(request);
  if (call == nullptr) return false;
  if (call->of == nullptr) {
    code = attachment::call_handler({MPI_COMM_SELF, MPI_ERR_COMM});
    return true;
  }
  prepared made;
  {
    inside const layer;
    code = prepare(*call->of, call->as, form::persistent, made) == nullptr ? real.Start(&request) : MPI_ERR_REQUEST;
  }
  if (code != MPI_SUCCESS)
    attachment::call_handler({call->of->communicator(), code});
  else
    take_off(std::move(made), call->tag, true);
  return true;
}

void forget_persistent(MPI_Request request) noexcept {
  if (how_many.load(std::memory_order_relaxed) == 0) return;
  {
    std::lock_guard const lock(keeping);
    auto const at = std::ranges::find(kept, request, &persistent_call::request);
    if (at == kept.end()) return;
    give_back_tag(at->tag);
    if (at->of != nullptr) at->lender->give_back(at->of);
    kept.erase(at);
    how_many.store(kept.size(), std::memory_order_relaxed);
  }
  look_whether_unused();
}

void part_from(attachment const& one) noexcept {
  std::lock_guard const lock(keeping);
  for (persistent_call& each : kept) {
    if (each.of == &one) each.of = nullptr;
  }
}

bool is_operation_kept(MPI_Op by) noexcept {
  return any([&](persistent_call const& each) { return each.as.operation == by; });
}

bool is_type_kept(MPI_Datatype type) noexcept {
  return any([&](persistent_call const& each) { return each.as.type == type || each.as.out_type == type; });
}

}  // namespace coset::interpose
