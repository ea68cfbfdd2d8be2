// SPDX-License-Identifier: Apache-2.0
// What the layer keeps of a communicator, as an attribute of it: this process as a rank of a team.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "mpi/preload/latest.hpp"
#include "mpi/preload/membership.hpp"
#include "mpi/preload/stored_teams.hpp"

namespace coset::interpose {

struct arguments;
struct operation;
enum class form : unsigned char;

/// Calls of one communicator come one after another (MPI 4.0, section 6.13), so only operations in flight are guarded, by
/// flights.cpp.
class attachment {
 public:
  /// nullptr for handles about which MPI shall have the word.
  static attachment* of(MPI_Comm) noexcept;
  /// nullptr, too, where no collective has been called.
  static attachment* known_of(MPI_Comm) noexcept;

  ~attachment();
  attachment(attachment const&) = delete;
  attachment& operator=(attachment const&) = delete;

  MPI_Comm communicator() const noexcept { return communicator_; }
  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }

  /// This process's member of the communicator's team; nullptr if there is no team, for the reason that why_not() gives.
  coset_member* me() const noexcept { return me_; }
  /// Before a call without a team, which counts. Collective if the call may wait and the calls are worth a team, unless there
  /// cannot be one; all processes know both alike.
  coset_member* found(arguments const&, form);
  /// Whether all of its processes are of MPI_COMM_WORLD.
  bool is_of_one_world();
  /// Whether its end is collective: a team ends with it.
  bool ends_a_team() const noexcept;
  char const* why_not() const noexcept { return why_not_; }
  /// Collective, of one with a team: another team of the same processes, which numbers its operations by itself; nullptr if
  /// there are too many. Persistent requests have one each, as processes may start them in different orders (MPI 4.0,
  /// section 6.13). It is taken from those that all processes have given back.
  attachment* lend_another();
  void give_back(attachment const* lent) noexcept;

  /// Teams count ranks host by host. Where the communicator does otherwise, this is where its rank is in the team …
  std::uint32_t place_of(int rank) const noexcept {
    return places_.empty() ? static_cast<std::uint32_t>(rank) : places_[static_cast<std::size_t>(rank)];
  }
  /// … and whether it does.
  bool is_renumbered() const noexcept { return !places_.empty(); }

  /// What MPI's error handler of the communicator has to hear.
  struct failure {
    MPI_Comm on = MPI_COMM_NULL;
    int code = MPI_SUCCESS;
  };
  /// Of the status that the calling thread has just got in a call of the program, "MPI_Bcast of 3 MPI_INT".
  failure failure_of(coset_status, std::string const& call) const;
  /// Returns the code, if the handler returns.
  static int call_handler(failure const&);

  /// Of one with a team, which brings along what is known of both sides.
  judge& sides() noexcept { return team_->sides; }
  latest_call last;

  struct {
    std::deque<operation*> all;  ///< in the order of their calls; the first of them have begun
    std::size_t begun = 0;
    std::thread::id user;  ///< of the member: a thread in a blocking call
  } flights;

 private:
  friend void end_attachments() noexcept;
  explicit attachment(MPI_Comm);
  /// Another one of the same communicator.
  attachment(attachment const& like, int) noexcept;

  enum class wanted : unsigned char { nothing, one_there_is, one_at_any_cost };
  wanted reckon();
  bool is_like_world();
  bool get_team(bool may_make);
  bool make_team(bool outlives_communicator);
  void adopt(std::unique_ptr<membership>);
  void be_without(char const* why) noexcept;
  void leave_all() noexcept;

  MPI_Comm const communicator_;
  int rank_ = 0, size_ = 0;
  bool is_inter_ = false, is_settled_ = false, has_asked_for_store_ = false;
  signed char likeness_ = -1;  ///< unknown; else whether it is like MPI_COMM_WORLD
  std::uint64_t missed_ = 0, told_of_ = 0,
                reckons_next_at_ = 0;  ///< nanoseconds that calls without a team would have saved
  char const* why_not_ = "no blocking collective has made its team yet";
  std::unique_ptr<membership> team_;
  coset_member* me_ = nullptr;
  std::vector<std::uint32_t> places_;
  stored_teams* store_ = nullptr;
  struct lent_attachment;
  std::vector<std::unique_ptr<lent_attachment>> others_;
};

/// After MPI_Init, and before MPI_Finalize, which is collective: ends all teams.
void begin_attachments();
void end_attachments() noexcept;

}  // namespace coset::interpose
