// SPDX-License-Identifier: Apache-2.0
// Ranks that are no threads: whoever has time carries one a step on, and nobody waits. Beneath adapters to runtimes of
// tasks.
#pragma once

#include <exception>
#include <memory>

#include "coset/team.hpp"
#include "coset/visibility.h"

namespace coset::detail {

/// A team that task_run serves: neither run() nor join() does. Throws argument_error for 0 ranks.
COSET_API std::unique_ptr<team> make_task_team(rank_t ranks);

/// One run of such a team: start() of every rank, then go_on() of those that are not done, again and again.
///
/// Any thread may carry any rank, another one each time, and several ranks in turn; but a rank is carried by one thread
/// at a time, and whoever carries it next comes after, by the caller's synchronisation. Nothing waits for another rank,
/// but for a fold that another thread is amid, if the team has failed. Programs wait for each other in no circle, so
/// going through all ranks once, in any order and by any number of threads, brings on all that the last such sweep left
/// ready: there are at most as many sweeps as waits follow one another in the program, and one more.
///
/// What a rank throws fails the team: the others are done at their next step.
class COSET_API task_run {
 public:
  /// Throws argument_error if another run of the team is open.
  explicit task_run(team&);
  ~task_run();  ///< gives up what is under way
  task_run(task_run const&) = delete;
  task_run& operator=(task_run const&) = delete;

  /// Calls `body`, which starts operations of this rank, at most eight. True if the rank is done.
  bool start(rank_t, void (*body)(void*, member&), void* context) noexcept;
  /// As far as it goes without waiting. True if the rank is done.
  bool go_on(rank_t) noexcept;
  /// When all are done. Throws what the team failed with: the very exception that left a rank, if that was the first.
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
