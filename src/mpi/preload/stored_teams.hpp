// SPDX-License-Identifier: Apache-2.0
// Teams that outlive their communicators, by their processes. A program that makes one communicator after another of the same
// processes has one team for all of them: what it was asked by one is followed by what the next asks, as if they were one.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "mpi/preload/membership.hpp"

namespace coset::interpose {

/// Of the same processes in the same order. Each process has the same places, since its teams are made by all of them: which
/// are free they have to agree on, as one may still be where its communicator has not been freed.
class stored_teams {
 public:
  /// In each process: teams keep what they share, and MPI has few communicators.
  static constexpr std::size_t most = 32;

  /// By this process alone, and kept for good; nullptr if a process is not of MPI_COMM_WORLD, as all of them know.
  static stored_teams* of(MPI_Comm);
  /// Whether this process has so many that it can keep no more.
  static bool are_many() noexcept;
  /// Where MPI ends: all that are here.
  static std::vector<std::unique_ptr<membership>> take_all();

  /// Those that no other thread offers meanwhile.
  class offer {
   public:
    explicit offer(stored_teams* from) noexcept;
    ~offer();
    offer(offer const&) = delete;
    offer& operator=(offer const&) = delete;

    std::uint64_t places() const noexcept { return places_; }  ///< a bit for each
    std::unique_ptr<membership> take(std::size_t place) noexcept;

   private:
    stored_teams* const from_;
    std::uint64_t places_ = 0;
  };

  /// Whether any team of these processes outlives its communicator; all processes know it alike, below MPI_THREAD_MULTIPLE.
  bool have_any() const noexcept;
  /// Of one that has just been made, by all processes, while no other is being made: it will come back.
  void give_place_to(membership&) noexcept;
  /// False: it ends with its communicator, on all processes.
  static bool take_back(std::unique_ptr<membership>&) noexcept;
  static bool will_take_back(membership const& one) noexcept { return one.store_ != nullptr; }

  /// Nanoseconds that calls without a team would have saved, over all communicators of these processes: all know it alike,
  /// below MPI_THREAD_MULTIPLE.
  std::uint64_t missed = 0;

 private:
  mutable std::mutex keeping_;
  /// Threads that make teams at once may go beyond `most`, by one each.
  std::array<std::unique_ptr<membership>, 64> kept_{};
  std::size_t places_ = 0;     ///< that have a team, which may be in use
  std::uint64_t offered_ = 0;  ///< by some thread
};

}  // namespace coset::interpose
