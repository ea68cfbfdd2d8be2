// SPDX-License-Identifier: Apache-2.0
// The threads of an owning team: pinned once, asleep between runs.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "numa/affinity.hpp"
#include "runtime/memory/told_to_sanitizer.hpp"
#include "team/team_state.hpp"

namespace coset::team_room {

/// A count that threads may sleep on until it is as large as they wait for.
struct job_signal {
  alignas(line_spacing) std::atomic<std::uint64_t> word = 0;
  std::atomic<std::uint32_t> sleepers = 0;

  void add_one() noexcept;
  void wait_for(std::uint64_t value, patience const&) noexcept;
  /// The same until `leaves` says so, which is asked after each look in vain. Whether the count was as large.
  template <class Leaves>
  bool wait_for(std::uint64_t value, patience const& p, Leaves leaves) noexcept {
    auto const ready = [&](std::uint64_t now) { return now >= value || leaves(); };
    bool const reached =
        runtime::wait_until(word, runtime::half::low, sleepers, p, ready, [](std::uint32_t) {}) >= value;
    runtime::tell_acquire(&word);
    return reached;
  }
};

class workers {
 public:
  using body = void (*)(void*, member&);
  using leaving = bool (*)(void*) noexcept;

  /// Starts ranks 1 to P−1; each pins itself and makes its own state, on its own node. Throws what the first of them threw;
  /// topology_error if the system starts no thread for a rank, or does not let it be pinned, with what would do.
  explicit workers(detail::team_state&);
  ~workers();

  /// Runs `what` on every rank, the caller being rank 0. Rethrows the first exception that left a body. Throws
  /// argument_error in a forked child, also where a body has forked and the child's has ended.
  void run(body what, void* context);
  /// The same for a caller who may have to go on before other ranks' bodies end: while it waits for them `leaves(context)`
  /// is asked, and where that is true run_or_leave() returns false, without an exception. `context` must live until
  /// have_ended(); before that run() throws argument_error.
  bool run_or_leave(body what, void* context, leaving leaves);
  /// Whether the bodies of the last run have ended.
  bool have_ended() noexcept;
  /// Whether the threads are idle: no body runs.
  bool can_stop() noexcept;
  /// Whether they are as they were before the first run, but for what is given to them once more before another one. Cost: a system
  /// call for each.
  bool are_whole(scheduling const&) const noexcept;

  /// Of an idle team: its threads retire it if nothing has happened for so long.
  void leave_after(std::chrono::nanoseconds) noexcept;
  void stay() noexcept { leave_at_.store(0, std::memory_order_relaxed); }
  /// The next run's threads are as if the calling thread, with this, had just started them.
  void begin_anew(inherited const&) noexcept;
  /// The calling one. Without it the others can be ended.
  std::thread own_thread() noexcept;

 private:
  void start_threads();
  void pin(rank_t) const;
  void work(rank_t);
  void settle(rank_t);
  void become_as_new(rank_t) const noexcept;
  bool is_time_to_leave() const noexcept;
  void execute(rank_t);
  void end_job(rank_t) noexcept;
  void fail(rank_t, std::exception_ptr const&, std::string_view reason) noexcept;
  void require_threads() const;
  void claim();
  std::uint64_t ends_of_all() const noexcept;
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
  std::atomic<bool> left_ = false;  ///< run_or_leave() has returned before all bodies ended
  std::atomic<bool> lost_ = false;  ///< a body has ended one of the threads
  std::mutex failing_;
  std::vector<pid_t> numbers_;              ///< [rank − 1] of the threads, for the system
  std::atomic<std::int64_t> leave_at_ = 0;  ///< ns of steady_clock; 0: never
  std::uint64_t anew_from_ = 0;             ///< the run before which threads become as new ones
  std::optional<inherited> maker_;          ///< of whoever the team was made for last, if not for the first time
  std::exception_ptr escaped_;              ///< the first exception that left a body
  std::vector<std::thread> threads_;
};

}  // namespace coset::team_room
