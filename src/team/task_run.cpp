// SPDX-License-Identifier: Apache-2.0
#include "coset/detail/task_run.hpp"

#include <thread>
#include <utility>

#include "planning/calibration/profile.hpp"
#include "runtime/requests.hpp"
#include "team/team_state.hpp"

namespace coset::inline COSET_ABI::detail {

using namespace runtime;
using namespace team_room;

/// What was measured here was measured with threads that wait for one another, so it does not count.
std::unique_ptr<team> make_task_team(rank_t ranks) {
  numa::fork_waits const until_made;
  if (ranks == 0) throw argument_error("a team of 0 ranks");
  topology const& machine = calibration::machine_tuned_for();
  auto state = std::make_shared<team_state>(team_shape{ranks,
                                                       {},
                                                       node_list(ranks, anywhere),
                                                       false,
                                                       calibration::told_of(machine),
                                                       choice::table::of_environment(),
                                                       true},
                                            team_options{});
  for (rank_t r = 0; r < ranks; ++r) {
    rank_state& made = state->make_rank(r);
    if (machine.nodes.size() == 1) made.here.node = 0;
  }
  return std::unique_ptr<team>(new team(std::move(state)));
}

task_run::task_run(team& of) : team_(of.state()) {
  require_this_process(team_.shared, "run()");
  if (team_.membership.task_run_open.exchange(true))
    throw argument_error("run() inside run(), or by two threads at once: a team runs one body at a time");
  try {
    team_.begin_generation();
  } catch (...) {
    team_.membership.task_run_open = false;
    throw;
  }
}

task_run::~task_run() { close(); }

template <class Step>
bool task_run::step(rank_t rank, Step what) noexcept {
  rank_state& state = *team_.members[rank];
  if (!team_.shared.is_of_this_process()) return true;  // end() says so
  state.here.thread = std::this_thread::get_id();
  try {
    what(state);
    if (state.requests.live != 0) return false;
  } catch (...) {
    std::exception_ptr const escaped = std::current_exception();
    team_.shared.fail(cause::aborted, words("rank %u ended with an exception: %s", rank, what_of(escaped)), escaped);
    team_.shared.quiesce(state);
    abandon_requests(state);
  }
  // Partner: the acquire load of whoever looks for this rank in vain.
  team_.shared.left(rank).store(team_.shared.marks.generation, std::memory_order_release);
  return true;
}

bool task_run::start(rank_t rank, void (*body)(void*, member&), void* context) noexcept {
  return step(rank, [&](rank_state& state) {
    member me(state);
    body(context, me);
  });
}

bool task_run::go_on(rank_t rank) noexcept {
  return step(rank, [](rank_state& state) { advance_all(state); });
}

void task_run::close() noexcept {
  if (!std::exchange(open_, false) || !team_.shared.is_of_this_process()) return;
  for (auto const& m : team_.members) abandon_requests(*m);
  team_.membership.task_run_open = false;
}

std::exception_ptr task_run::thrown() const {
  if (!team_.shared.failure.recorded()) return nullptr;
  if (std::exception_ptr original = team_.shared.failure.original()) return original;
  try {
    team_.shared.failure.raise();
  } catch (...) {
    return std::current_exception();
  }
}

void task_run::end() {
  require_this_process(team_.shared, "the end of a body");
  std::exception_ptr const failure = thrown();
  close();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace coset::detail
