// SPDX-License-Identifier: Apache-2.0
// What the layer keeps of a communicator, as an attribute of it: this process as a rank of a team.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "coset/coset_mpi.h"

namespace coset::interpose {

struct operation;

/// Calls of one communicator come one after another (MPI 4.0, section 6.13), so only operations in flight are guarded, by
/// `flights` in flights.cpp.
class attachment {
 public:
  /// nullptr for handles about which MPI shall have the word.
  static attachment* of(MPI_Comm) noexcept;

  ~attachment();
  attachment(attachment const&) = delete;
  attachment& operator=(attachment const&) = delete;

  MPI_Comm communicator() const noexcept { return communicator_; }
  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }

  /// This process's member of the communicator's team; nullptr if there is no team, for the reason that why_not() gives.
  coset_member* me() const noexcept { return me_; }
  /// Collective, unless there is a team or cannot be one, which all processes know alike.
  coset_member* found() noexcept;
  char const* why_not() const noexcept { return why_not_; }

  /// Teams count ranks host by host. Where the communicator does otherwise, this is where its rank is in the team …
  std::uint32_t place_of(int rank) const noexcept {
    return place_of_.empty() ? static_cast<std::uint32_t>(rank) : place_of_[static_cast<std::size_t>(rank)];
  }
  /// … and whether it does.
  bool is_renumbered() const noexcept { return !place_of_.empty(); }

  /// Calls MPI's error handler of the communicator; returns what that leaves to return.
  int report(coset_status) const noexcept;

  std::deque<operation*> in_flight;  ///< in the order of their calls; the first of them have begun
  std::size_t begun = 0;

 private:
  explicit attachment(MPI_Comm);
  void learn_places();

  MPI_Comm const communicator_;
  int rank_ = 0, size_ = 0;
  bool tried_ = false;
  char const* why_not_ = "no blocking collective has made its team yet";
  coset_team* threads_ = nullptr;
  coset_mpi_team* team_ = nullptr;
  coset_member* me_ = nullptr;
  std::vector<std::uint32_t> place_of_;
};

/// After MPI_Init, and before MPI_Finalize, which is collective: ends all teams.
void begin_attachments();
void end_attachments() noexcept;

}  // namespace coset::interpose
