// SPDX-License-Identifier: Apache-2.0
#include "mpi/interpose/attachment.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <string>

#include "mpi/interpose/flights.hpp"
#include "mpi/interpose/real.hpp"
#include "mpi/interpose/tally.hpp"

namespace coset::interpose {
namespace {

int of_communicators = MPI_KEYVAL_INVALID;

std::mutex listing;
std::vector<attachment*> listed;  // in the order in which they were made

/// Handles are used again. Whoever remembers one remembers when, too.
std::atomic<std::uint64_t> ended = 0;

struct remembered {
  MPI_Comm handle = MPI_COMM_NULL;
  attachment* at = nullptr;
  std::uint64_t when = 0;
};
thread_local remembered latest __attribute__((tls_model("initial-exec")));

int detach(MPI_Comm, int, void* kept, void*) {
  inside const layer;
  auto* const one = static_cast<attachment*>(kept);
  {
    std::lock_guard const lock(listing);
    std::erase(listed, one);
  }
  ended.fetch_add(1, std::memory_order_release);
  delete one;
  return MPI_SUCCESS;
}

}  // namespace

attachment::attachment(MPI_Comm of) : communicator_(of) {
  int is_inter = 0;
  PMPI_Comm_test_inter(of, &is_inter);
  PMPI_Comm_rank(of, &rank_);
  PMPI_Comm_size(of, &size_);
  if (is_inter != 0) {
    tried_ = true;
    why_not_ = "an intercommunicator";
  }
}

attachment::~attachment() {
  complete_all_of(*this);
  if (me_ != nullptr) coset_team_leave(me_);
  coset_mpi_team_free(team_);
  coset_team_free(threads_);
}

attachment* attachment::of(MPI_Comm handle) noexcept {
  if (latest.handle == handle && latest.when == ended.load(std::memory_order_acquire)) return latest.at;
  if (handle == MPI_COMM_NULL || of_communicators == MPI_KEYVAL_INVALID) return nullptr;
  inside const layer;
  std::uint64_t const when = ended.load(std::memory_order_acquire);
  void* kept = nullptr;
  int is_there = 0;
  if (PMPI_Comm_get_attr(handle, of_communicators, static_cast<void*>(&kept), &is_there) != MPI_SUCCESS) return nullptr;
  if (is_there == 0) {
    auto* const made = new attachment(handle);
    kept = made;
    PMPI_Comm_set_attr(handle, of_communicators, kept);
    std::lock_guard const lock(listing);
    listed.push_back(made);
  }
  latest = {handle, static_cast<attachment*>(kept), when};
  return latest.at;
}

/// All processes get a team or none does: coset_mpi_team_create() fails on all alike.
coset_member* attachment::found() noexcept {
  if (tried_) return me_;
  tried_ = true;
  inside const layer;
  why_not_ = "no team could be made";
  if (coset_team_adopt(1, nullptr, &threads_) != COSET_SUCCESS) return nullptr;
  coset_mpi_options const options = COSET_MPI_OPTIONS;
  if (coset_mpi_team_create(communicator_, threads_, &options, &team_) != COSET_SUCCESS) {
    log_once(coset_error_message());
    return nullptr;
  }
  learn_places();
  if (coset_mpi_team_join(team_, 0, &me_) != COSET_SUCCESS) log_once(coset_error_message());
  return me_;
}

void attachment::learn_places() {
  std::uint32_t const own = coset_mpi_team_first(team_);
  std::vector<std::uint32_t> all(static_cast<std::size_t>(size_));
  real.Allgather(&own, 1, MPI_UINT32_T, all.data(), 1, MPI_UINT32_T, communicator_);
  if (!std::ranges::is_sorted(all)) place_of_ = std::move(all);
}

int attachment::report(coset_status status) const noexcept {
  if (status == COSET_SUCCESS) return MPI_SUCCESS;
  inside const layer;
  int code = MPI_ERR_OTHER;
  if (PMPI_Add_error_code(MPI_ERR_OTHER, &code) == MPI_SUCCESS) {
    std::string const words = std::string("coset: ") + coset_error_message();
    PMPI_Add_error_string(code, words.substr(0, MPI_MAX_ERROR_STRING - 1).c_str());
  }
  PMPI_Comm_call_errhandler(communicator_, code);
  return code;
}

void begin_attachments() {
  if (of_communicators == MPI_KEYVAL_INVALID)
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, detach, &of_communicators, nullptr);
}

/// The latest first, as all processes made them in the same order.
void end_attachments() noexcept {
  if (of_communicators == MPI_KEYVAL_INVALID) return;
  for (;;) {
    attachment* latest_made = nullptr;
    {
      std::lock_guard const lock(listing);
      if (listed.empty()) break;
      latest_made = listed.back();
    }
    MPI_Comm of = latest_made->communicator();
    PMPI_Comm_delete_attr(of, of_communicators);
  }
  PMPI_Comm_free_keyval(&of_communicators);
}

}  // namespace coset::interpose
