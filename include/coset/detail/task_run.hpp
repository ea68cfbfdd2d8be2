// SPDX-License-Identifier: Apache-2.0
// Ranks without threads: any free thread advances a rank by a step, and no thread waits. Used by adapters to task
// runtimes.
#pragma once

#include <exception>

#include "coset/detail/visibility.h"
#include "coset/team.hpp"

namespace coset::inline COSET_ABI::detail {

/// One run of a team of make_task_team(): start() for every rank, then go_on() for the unfinished ranks, repeatedly.
///
/// Any thread may advance any rank, and several ranks in turn, but only one thread at a time may advance a rank, and
/// the caller orders these calls. No call waits for another rank, except, after the team has failed, for a fold in
/// another thread. Programs contain no cyclic waits, so a sweep over all ranks, in any order and by any number of
/// threads, advances every rank that the previous sweep made ready: the number of sweeps is at most one more than the
/// longest chain of waits in the program.
///
/// An exception on a rank fails the team; the other ranks are done at their next step.
class COSET_API task_run {
 public:
  /// Throws argument_error if another run of the team is open.
  explicit task_run(team&);
  ~task_run();  ///< gives up operations under way
  task_run(task_run const&) = delete;
  task_run& operator=(task_run const&) = delete;

  /// Calls `body`, which starts operations of this rank, at most eight. True if the rank is done.
  bool start(rank_t, void (*body)(void*, member&), void* context) noexcept;
  /// Advances the rank as far as possible without waiting. True if the rank is done.
  bool go_on(rank_t) noexcept;
  /// Called when all ranks are done. Throws the team's error if it failed: the original exception if a rank threw
  /// first.
  void end();

 private:
  template <class Step>
  bool step(rank_t, Step) noexcept;
  void close() noexcept;
  std::exception_ptr thrown() const;

  team_state& team_;
  bool open_ = true;
};

}  // namespace coset::detail
