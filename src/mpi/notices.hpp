// SPDX-License-Identifier: Apache-2.0
// How processes hear that another one's ranks have failed.
#pragma once

#include <array>
#include <atomic>
#include <list>
#include <mutex>
#include <string_view>

#include "mpi/calls.hpp"
#include "team/failure.hpp"

namespace coset::mpi {

struct notice {
  std::uint32_t round;
  team_room::cause why;
  std::array<char, 512> reason;
};

/// Every process sends one to all others when its ranks fail first, and listens for theirs. A lock guards MPI's requests:
/// several carriers may call.
class notices {
 public:
  explicit notices(MPI_Comm of);
  ~notices();
  notices(notices const&) = delete;
  notices& operator=(notices const&) = delete;

  /// Once per round; later calls do nothing.
  void tell(std::uint32_t round, team_room::cause, std::string_view reason) noexcept;
  /// Calls heard(notice) for what has come. Does nothing while another thread listens.
  template <class Heard>
  void listen(Heard heard) {
    std::unique_lock const lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return;
    while (has_come()) heard(incoming_);
  }

 private:
  struct letter {
    notice what;
    std::vector<MPI_Request> requests;
  };

  bool has_come();
  void receive_next();

  communicator all_;
  std::mutex mutex_;
  notice incoming_{};
  MPI_Request listening_ = MPI_REQUEST_NULL;
  std::uint32_t told_ = 0;
  std::list<letter> sent_;
};

}  // namespace coset::mpi
