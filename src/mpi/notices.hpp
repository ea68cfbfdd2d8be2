// SPDX-License-Identifier: Apache-2.0
// How processes hear that another one's ranks have failed.
#pragma once

#include <array>
#include <atomic>
#include <list>
#include <mutex>
#include <optional>
#include <string_view>

#include "mpi/calls.hpp"
#include "team/failure.hpp"

namespace coset::mpi {

/// Of a failure; or the question whether a rank takes part in an operation that `reason` describes, or ever will.
struct notice {
  std::uint32_t round;
  team_room::cause why;
  std::array<char, 512> reason;
  rank_t asked, asking;
  std::uint32_t number, history;  ///< of the operation, as own_line has them
  static constexpr rank_t nobody = UINT32_MAX;
};

notice make_notice(std::uint32_t round, team_room::cause, std::string_view reason);

/// Every process sends one to all others when its ranks fail, and listens for theirs. A lock guards MPI's requests:
/// several carriers may call.
class notices {
 public:
  explicit notices(MPI_Comm of);
  ~notices();
  notices(notices const&) = delete;
  notices& operator=(notices const&) = delete;

  /// Once per round; later calls do nothing.
  void tell(std::uint32_t round, team_room::cause, std::string_view reason) noexcept;
  void ask(int process, notice const&);
  /// The next one that has come. None while another thread listens.
  std::optional<notice> heard();

 private:
  struct letter {
    notice what;
    std::vector<MPI_Request> requests;
  };

  void send(int process, letter&);
  void receive_next();

  communicator all_;
  std::mutex mutex_;
  notice incoming_{};
  MPI_Request listening_ = MPI_REQUEST_NULL;
  std::uint32_t told_ = 0;
  std::list<letter> sent_;
};

}  // namespace coset::mpi
