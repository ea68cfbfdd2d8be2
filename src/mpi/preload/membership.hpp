// SPDX-License-Identifier: Apache-2.0
// This process as a rank of a team, which serves one communicator after another.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "coset/coset_mpi.h"
#include "mpi/preload/judge.hpp"

namespace coset::interpose {

class stored_teams;

class membership {
 public:
  /// Collective: a team of the processes of `of`, with what the teams over `pooled` have in common. Creating fails on all
  /// processes alike: nullptr. `number` grows in each process, and all processes of the team know it alike.
  static std::unique_ptr<membership> founded(MPI_Comm pooled, MPI_Comm of, std::uint64_t number);
  /// Collective: ends the team.
  ~membership();
  membership(membership const&) = delete;
  membership& operator=(membership const&) = delete;

  /// nullptr after leave().
  coset_member* me() const noexcept { return me_; }
  void leave() noexcept;
  std::uint64_t number() const noexcept { return number_; }
  /// Teams count ranks host by host: where the rank of a communicator is; empty: in its place.
  std::vector<std::uint32_t> const& places() const noexcept { return places_; }
  /// It may serve no other communicator: its processes may have come to different operations.
  void note_failure() noexcept { has_failed_.store(true, std::memory_order_relaxed); }
  bool has_failed() const noexcept { return has_failed_.load(std::memory_order_relaxed); }

  judge sides;

  /// How many teams of this process exist.
  static std::uint64_t alive() noexcept;

 private:
  friend stored_teams;
  explicit membership(std::uint64_t number) noexcept : number_(number) {}
  void learn_places(MPI_Comm of);

  std::uint64_t const number_;
  coset_team* threads_ = nullptr;
  coset_mpi_team* team_ = nullptr;
  coset_member* me_ = nullptr;
  std::vector<std::uint32_t> places_;
  std::atomic<bool> has_failed_ = false;
  stored_teams* store_ = nullptr;  ///< where it outlives its communicator
  std::size_t place_ = 0;          ///< there
};

}  // namespace coset::interpose
