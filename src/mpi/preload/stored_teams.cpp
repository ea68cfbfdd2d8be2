// SPDX-License-Identifier: Apache-2.0
#include "mpi/preload/stored_teams.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <numeric>
#include <utility>

#include "mpi/preload/real.hpp"

namespace coset::interpose {
namespace {

/// Never destroyed: programs may free communicators in destructors of static objects.
std::mutex listing;
auto& all = *new std::map<std::vector<int>, stored_teams>;
std::atomic<std::size_t> outliving = 0;

/// Which processes of MPI_COMM_WORLD they are, in their order; MPI_UNDEFINED for others.
std::vector<int> processes_of(MPI_Comm comm) {
  MPI_Group some = MPI_GROUP_NULL, everybody = MPI_GROUP_NULL;
  int size = 0;
  PMPI_Comm_size(comm, &size);
  PMPI_Comm_group(comm, &some);
  PMPI_Comm_group(MPI_COMM_WORLD, &everybody);
  std::vector<int> ranks(static_cast<std::size_t>(size)), processes(ranks.size(), MPI_UNDEFINED);
  std::iota(ranks.begin(), ranks.end(), 0);
  PMPI_Group_translate_ranks(some, size, ranks.data(), everybody, processes.data());
  PMPI_Group_free(&some);
  PMPI_Group_free(&everybody);
  return processes;
}

}  // namespace

stored_teams* stored_teams::of(MPI_Comm comm) {
  inside const layer;
  std::vector<int> processes = processes_of(comm);
  if (std::ranges::find(processes, MPI_UNDEFINED) != processes.end()) return nullptr;
  std::lock_guard const lock(listing);
  return &all.try_emplace(std::move(processes)).first->second;
}

bool stored_teams::are_many() noexcept { return outliving.load(std::memory_order_relaxed) >= most; }

std::vector<std::unique_ptr<membership>> stored_teams::take_all() {
  std::vector<std::unique_ptr<membership>> taken;
  std::lock_guard const lock(listing);
  for (auto& [processes, store] : all) {
    std::lock_guard const keeping(store.keeping_);
    for (auto& each : store.kept_) {
      if (each) taken.push_back(std::move(each));
    }
  }
  return taken;
}

stored_teams::offer::offer(stored_teams* from) noexcept : from_(from) {
  if (from_ == nullptr) return;
  std::lock_guard const lock(from_->keeping_);
  for (std::size_t place = 0; place < from_->places_; ++place) {
    bool const is_free = from_->kept_[place] && !from_->kept_[place]->has_failed();
    places_ |= std::uint64_t{is_free} << place;
  }
  places_ &= ~from_->offered_;
  from_->offered_ |= places_;
}

stored_teams::offer::~offer() {
  if (from_ == nullptr) return;
  std::lock_guard const lock(from_->keeping_);
  from_->offered_ &= ~places_;
}

std::unique_ptr<membership> stored_teams::offer::take(std::size_t place) noexcept {
  std::lock_guard const lock(from_->keeping_);
  return std::move(from_->kept_[place]);
}

bool stored_teams::have_any() const noexcept {
  std::lock_guard const lock(keeping_);
  return places_ != 0;
}

void stored_teams::give_place_to(membership& made) noexcept {
  std::lock_guard const lock(keeping_);
  made.store_ = this;
  made.place_ = places_++;
  outliving.fetch_add(1, std::memory_order_relaxed);
}

bool stored_teams::take_back(std::unique_ptr<membership>& one) noexcept {
  stored_teams* const to = one->store_;
  if (to == nullptr) return false;
  std::lock_guard const lock(to->keeping_);
  to->kept_[one->place_] = std::move(one);
  return true;
}

}  // namespace coset::interpose
