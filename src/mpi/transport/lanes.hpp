// SPDX-License-Identifier: Apache-2.0
// The communicators in which proxies receive, and the tags by which teams share them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "mpi/transport/calls.hpp"

namespace coset::inline COSET_ABI::mpi {

/// Threads that receive in communicators of their own meet in no lock of MPI's. Teams that are alive at the same time
/// may share them: each has a seat, by which tags tell its messages from those of the others.
class lanes {
 public:
  /// `threads`: of the process that has most.
  lanes(rank_t count, rank_t threads);
  /// Collective, afterwards and once.
  void open(MPI_Comm of);

  std::size_t count() const noexcept { return made_.size(); }
  bool serve(rank_t count, rank_t threads) const noexcept { return count <= made_.size() && threads <= threads_; }
  MPI_Comm of(rank_t lane) const noexcept { return made_[lane].get(); }
  bool has_seats() const noexcept { return taken_ < seats_; }
  /// Nobody else ever gets it.
  std::uint32_t take_seat() noexcept { return taken_++; }
  /// Of the first of two tags that are the sender's own in this channel, in rounds that are not too far apart.
  int tag(std::uint32_t seat, std::uint32_t round, rank_t sender, std::uint32_t channel) const noexcept;
  /// The same in a part of the team, whose number stands for the round. Any thread may send there, so the sender is one
  /// of all threads of its process.
  int tag_of_part(std::uint32_t seat, std::uint32_t number, rank_t sender, std::uint32_t channel) const noexcept;
  /// Numbers of parts that differ by less have other tags.
  std::uint32_t numbers_told_apart() const noexcept { return numbers_told_apart_; }

 private:
  std::vector<communicator> made_;
  rank_t threads_;
  std::uint32_t first_of_parts_, seats_, rounds_told_apart_, numbers_told_apart_, taken_ = 0;
};

struct seat {
  std::shared_ptr<lanes> of;
  std::uint32_t number = 0;
};

}  // namespace coset::mpi
