// SPDX-License-Identifier: Apache-2.0
// How processes hear that another one's ranks have failed.
#pragma once

#include <array>
#include <atomic>
#include <list>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "mpi/transport/calls.hpp"
#include "numa/memory.hpp"
#include "runtime/failure/failure.hpp"

namespace coset::inline COSET_ABI::mpi {

struct notice {
  enum class kind : std::uint32_t {
    failure,   ///< of a rank; by cause::messages, of the team for good
    question,  ///< whether a rank takes part in an operation that `reason` describes, or ever will
    farewell   ///< its process destroys the team, and waits for the others to do so
  };
  kind what;
  std::uint32_t round;
  runtime::cause why;
  std::array<char, 512> reason;
  rank_t asked, asking;
  std::uint32_t number, history;  ///< of the operation, as own_line has them
  std::uint32_t part;             ///< in which it is; 0: the team itself
  rank_t in_whole;                ///< the number in the team of who is asked
};

notice make_notice(notice::kind, std::uint32_t round, runtime::cause, std::string_view reason);

/// Every process sends a notice to all others when its ranks fail, and listens for theirs. A lock guards MPI's
/// requests: several proxies may call.
class failure_notices {
 public:
  /// Nobody else sends anything by this communicator; collectives do not meet them.
  explicit failure_notices(communicator const& of);
  ~failure_notices();
  failure_notices(failure_notices const&) = delete;
  failure_notices& operator=(failure_notices const&) = delete;

  /// Tells a failure: once per round, and once more if the team is over for good; later calls do nothing.
  void tell(std::uint32_t round, runtime::cause, std::string_view reason) noexcept;
  void take_leave(std::uint32_t round) noexcept;
  void ask(int process, notice const&);
  /// The next notice that has come. Empty while another thread listens.
  std::optional<notice> heard();
  /// Collective, once nobody sends any more: until all that was sent has come. Open MPI 4.1 breaks when a message comes for
  /// a communicator that its receiver has freed. Cost where nothing was sent: one MPI_Iallreduce of four bytes.
  void hear_the_rest();
  /// The last call of a team that is left to MPI: then MPI reports no pending receive when it ends.
  void stop_listening() noexcept;

 private:
  struct letter {
    notice what;
    std::vector<MPI_Request> requests;
  };

  bool all_has_gone_out() noexcept;
  letter& new_letter(notice const&, int requests);
  void send(int process, letter&);
  void send_to_all(notice const&);
  void receive_next();

  communicator const& all_;
  std::mutex mutex_;
  /// Room in the address space, which MPI gets when a failure is told: Open MPI 4.1 does not look whether it has memory for a
  /// message that nobody has asked for, and ends by a signal.
  numa::memory reserve_{std::size_t{4} << 20};
  notice incoming_{};
  MPI_Request listening_ = MPI_REQUEST_NULL;
  std::uint32_t told_ = 0;
  bool told_of_end_ = false;
  std::list<letter> sent_;
  std::vector<int> sent_to_;  ///< how many questions, to each process; empty if none
  int sent_to_all_ = 0;       ///< how many of the others, to every process
  int heard_ = 0;
};

}  // namespace coset::mpi
