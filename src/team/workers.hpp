// SPDX-License-Identifier: Apache-2.0
// The threads of an owning team: pinned once, asleep between runs.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "numa/affinity.hpp"
#include "team/team_state.hpp"

namespace coset::team_room {

/// A count that threads may sleep on until it is as large as they wait for.
struct job_signal {
  alignas(line_spacing) std::atomic<std::uint64_t> word = 0;
  std::atomic<std::uint32_t> sleepers = 0;

  void add_one() noexcept;
  void wait_for(std::uint64_t value, patience const&) noexcept;
};

class workers {
 public:
  using body = void (*)(void*, member&);

  /// Starts ranks 1 to P−1; each pins itself and makes its own state, on its own node. Throws what the first of them threw;
  /// topology_error if the system starts no thread for a rank, or does not let it be pinned, with what would do.
  explicit workers(detail::team_state&);
  ~workers();

  /// Runs `what` on every rank, the caller being rank 0. Rethrows the first exception that left a body.
  void run(body what, void* context);
  /// Whether the threads are there and idle: run() is not active, and this process has not been forked.
  bool can_stop() const noexcept;

 private:
  void start_threads();
  void pin(rank_t) const;
  void work(rank_t);
  void settle(rank_t);
  void execute(rank_t);
  void end_job(rank_t) noexcept;
  void fail(rank_t, std::exception_ptr const&, std::string const& reason) noexcept;
  void wait_for_all() noexcept;
  void require_threads() const;
  void stop() noexcept;

  detail::team_state& team_;
  patience const idle_;
  numa::affinity const makers_;  ///< of the thread that makes the team
  job_signal jobs_;              ///< counts runs; one more than the last means stop
  job_signal done_;              ///< counts workers that have ended a job, over all jobs
  std::uint64_t runs_ = 0;
  bool stopping_ = false;
  body body_ = nullptr;
  void* context_ = nullptr;
  std::atomic<bool> running_ = false;
  pid_t const process_;
  std::atomic<bool> lost_ = false;  ///< a body has ended one of the threads
  std::mutex failing_;
  std::exception_ptr escaped_;  ///< the first exception that left a body
  std::vector<std::thread> threads_;
};

}  // namespace coset::team_room
