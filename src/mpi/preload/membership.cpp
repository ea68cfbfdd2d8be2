// SPDX-License-Identifier: Apache-2.0
#include "mpi/preload/membership.hpp"

#include <algorithm>
#include <utility>

#include "mpi/preload/real.hpp"
#include "mpi/preload/tally.hpp"

namespace coset::interpose {
namespace {

std::atomic<std::uint64_t> teams_alive = 0;

}  // namespace

std::uint64_t membership::alive() noexcept { return teams_alive.load(std::memory_order_relaxed); }

std::unique_ptr<membership> membership::founded(MPI_Comm pooled, MPI_Comm of, std::uint64_t number) {
  std::unique_ptr<membership> made(new membership(number));
  coset_mpi_options const options = COSET_MPI_OPTIONS;
  bool const is_made = coset_team_adopt(1, nullptr, &made->threads_) == COSET_SUCCESS &&
                       coset_mpi_team_create(pooled, made->threads_, &options, &made->team_) == COSET_SUCCESS;
  if (is_made) teams_alive.fetch_add(1, std::memory_order_relaxed);
  if (!is_made || coset_mpi_team_join(made->team_, 0, &made->me_) != COSET_SUCCESS) {
    log_once(coset_error_message());
    return nullptr;
  }
  made->learn_places(of);
  count_team_made();
  return made;
}

membership::~membership() {
  leave();
  if (team_ != nullptr) teams_alive.fetch_sub(1, std::memory_order_relaxed);
  coset_mpi_team_free(team_);
  coset_team_free(threads_);
}

void membership::leave() noexcept {
  if (me_ != nullptr) coset_team_leave(std::exchange(me_, nullptr));
}

void membership::learn_places(MPI_Comm of) {
  int size = 0;
  PMPI_Comm_size(of, &size);
  std::uint32_t const own = coset_mpi_team_first(team_);
  std::vector<std::uint32_t> all(static_cast<std::size_t>(size));
  real.Allgather(&own, 1, MPI_UINT32_T, all.data(), 1, MPI_UINT32_T, of);
  if (!std::ranges::is_sorted(all)) places_ = std::move(all);
}

}  // namespace coset::interpose
