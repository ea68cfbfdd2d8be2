// SPDX-License-Identifier: Apache-2.0
// How the processes of a team begin and end each run, and how they end the team.
#include "mpi/joint.hpp"

#include <chrono>
#include <functional>
#include <new>
#include <string_view>
#include <thread>
#include <utility>

#include "base/text/format.hpp"
#include "team/threads/adopted_threads.hpp"

namespace coset::inline COSET_ABI::mpi {
namespace {

using clock = std::chrono::steady_clock;

std::atomic<std::uint32_t> rounds_of_all_teams = 0;

using runtime::words;

/// Clears a flag at the end of a scope.
struct holding {
  std::atomic<bool>& flag;
  explicit holding(std::atomic<bool>& held) noexcept : flag(held) {}
  ~holding() { flag = false; }
  holding(holding const&) = delete;
  holding& operator=(holding const&) = delete;
};

/// Nobody joins until the end of the scope, unless some thread is inside already.
class closing {
 public:
  explicit closing(team_room::lent_threads* threads) noexcept
      : threads_(threads), closed_(threads == nullptr || threads->close()) {}
  ~closing() {
    if (threads_ != nullptr && closed_) threads_->open();
  }
  closing(closing const&) = delete;
  closing& operator=(closing const&) = delete;
  explicit operator bool() const noexcept { return closed_; }

 private:
  team_room::lent_threads* const threads_;
  bool const closed_;
};

/// A line for somebody who looks for what is missing; none where there is no memory for it.
void tell_of_waiting(int process, patience waited, char const* what) noexcept try {
  text::complain(text::format("stuck? process {} has waited {} s for {}: some have not come", process,
                              std::chrono::duration_cast<std::chrono::seconds>(waited).count(), what));
} catch (std::bad_alloc const&) {
}

}  // namespace

void loan::take(team_room::adopted_threads& of) {
  of.lend();
  of_ = &of;
}

void loan::give_back() noexcept {
  if (of_ != nullptr) std::exchange(of_, nullptr)->give_back();
}

void note_round(std::uint32_t round) noexcept {
  std::uint32_t latest = rounds_of_all_teams.load();
  while (latest < round && !rounds_of_all_teams.compare_exchange_weak(latest, round)) {
  }
}

std::uint32_t latest_round() noexcept { return rounds_of_all_teams.load(); }

/// No deadline for destroying a team: it would not pass on all processes alike, and a process that has seen all arrive
/// would wait in MPI for those that have given up.
record team::state::agree(record own) {
  occasion const at = own.nearest.at;
  bool const among_runs = at != occasion::constructing && at != occasion::destroying;
  own.nearest.round = own.farthest.round = round_;
  auto const& limits = threads_.state().shared.patience.limits;
  patience const longest = wanted_.deadline.count() != 0 ? wanted_.deadline : limits.longest;
  auto const since = clock::now();
  bool has_taken_leave = false;
  bool told = self_ > 1;  // of many processes two say it: either may be the one that is missing
  auto const meanwhile = [&] {
    patience const waited = clock::now() - since;
    if (!told && limits.until_told.count() != 0 && waited >= limits.until_told) {
      told = true;
      tell_of_waiting(self_, waited, awaited_at(at));
    }
    if (messages_) listen_while_waiting(at, waited, has_taken_leave);
  };
  // By reference: a function would take memory for so many captures.
  return connections_->agreed->reach(connections_->all, connections_->agreeing, own, among_runs ? longest : patience{},
                                     std::ref(meanwhile));
}

/// Throws if the team is over for good. Other failures only concern processes whose run is under way: a process that
/// has not begun the run forgets earlier ones.
void team::state::listen_while_waiting(occasion at, patience waited, bool& has_taken_leave) {
  // Adopted threads elsewhere may still wait for ranks of this process.
  bool const answers = at == occasion::destroying && lent() != nullptr;
  if (at == occasion::ending || at == occasion::clearing) {
    messages_->listen(ranks_->state());
  } else if (waited > until_others_are_told) {
    if (at == occasion::destroying && !has_taken_leave) messages_->take_leave();
    has_taken_leave = true;
    answers ? messages_->listen(ranks_->state()) : messages_->listen_between_runs();
  }
  std::string end = messages_->end_heard();
  // A process that takes leave during a run has ended that run.
  if (end.empty() && at == occasion::beginning) end = messages_->farewell_heard();
  if (!end.empty()) fail(words("%s", end.c_str()));
  if (waited > until_others_are_looked_after) attend_all_residents();
}

/// Tells every process that waits for this one, now or later, that it takes part in no agreement any more.
void team::state::give_up(char const* reason) noexcept {
  broken_.emplace("%s", reason);
  if (lent() != nullptr) ranks_->state().shared.fail(runtime::cause::messages, reason);  // they are told as they join
  if (messages_) messages_->tell_end(words("process %d has given up: %s", self_, reason));
  connections_.leave_to_mpi(true);
}

void team::state::leave_to_mpi() noexcept {
  if (messages_) messages_->stop_listening();
  connections_.leave_to_mpi(misses_a_process_ || broken_);
}

void team::state::take() noexcept {
  while (in_use_.exchange(true)) std::this_thread::yield();  // another thread attends, for a moment
}

void team::state::attend() noexcept try {
  if (in_use_.exchange(true)) return;
  holding const until_here(in_use_);
  closing const nobody_inside(lent());
  if (!nobody_inside) return;
  if (!messages_ || broken_) return;
  messages_->listen_between_runs();
  std::string end = messages_->end_heard();
  if (end.empty()) end = messages_->farewell_heard();
  if (!end.empty()) give_up(end.c_str());
} catch (std::exception const&) {
  // The next use of the team reports it.
}

char const* team::state::reason_of_end() const noexcept { return std::string_view(*broken_).data(); }

team_room::lent_threads* team::state::lent() const noexcept {
  return ranks_ ? ranks_->state().membership.lent.get() : nullptr;
}

void team::state::require_this_process(char const* what) const {
  if (!is_of_this_process()) runtime::refuse_in_child(what);
}

void team::state::require_main_thread(char const* what) const {
  int is_main = 1;
  if (level_ <= MPI_THREAD_FUNNELED) require(MPI_Is_thread_main(&is_main), "MPI_Is_thread_main");
  if (is_main == 0)
    throw argument_error(
        text::format("{} by a thread other than the one that initialised MPI, under {}", what, name_of_level(level_)));
}

member_guard team::state::join(rank_t thread) try {
  runtime::require_this_process(ranks().shared, "join()");
  if (is_finalized()) throw error("this team cannot be joined any more: MPI has been finalised");
  if (lent() == nullptr) throw argument_error("join() on a team that has threads of its own: call run()");
  if (thread == 0) require_main_thread("join(0)");
  return member_guard(lent()->join(thread));
} catch (std::bad_alloc const&) {
  throw out_of_memory("no memory to join a team over processes");
}

detail::rank_state* team::state::joined(rank_t thread) const noexcept {
  return is_adopted() ? lent()->joined(thread) : nullptr;
}

/// The round ends on all processes, whether it failed there or not, and the next one begins.
void team::state::reset() try {
  require_this_process("reset()");
  if (is_finalized()) throw error("this team cannot work any more: MPI has been finalised");
  if (lent() == nullptr) throw argument_error("reset() on a team that has threads of its own: the next run() is one");
  require_main_thread("reset()");
  take();
  holding const in_use_until_here(in_use_);
  closing const nobody_inside(lent());
  if (!nobody_inside) throw argument_error("reset() while threads are in the team: they have to leave it first");
  if (broken_) fail(words("this team cannot work any more: %s", reason_of_end()));
  if (messages_) end(nullptr);
  begin();
} catch (std::bad_alloc const&) {
  throw out_of_memory("no memory to reset a team over processes");
}

/// What a body throws is the caller's, std::bad_alloc too; what this throws is not.
void team::state::begin_running() try {
  require_this_process("run()");
  if (is_finalized()) throw error("this team cannot run any more: MPI has been finalised");
  if (lent() != nullptr) throw argument_error("run() on a team of adopted threads: they call join()");
  require_main_thread("run()");
  if (running_.exchange(true))
    throw argument_error("run() inside run(), or by two threads at once: a team runs one body at a time");
} catch (std::bad_alloc const&) {
  throw out_of_memory("no memory to run a team over processes");
}

void team::state::run(void (*body)(void*, member&), void* context) {
  begin_running();
  holding const running_until_here(running_);
  take();
  holding const in_use_until_here(in_use_);
  if (broken_) fail(words("this team cannot run any more: %s", reason_of_end()));
  if (!messages_) {
    threads_.run([&](member& me) { body(context, me); });
    return;
  }
  begin();
  std::exception_ptr thrown;
  try {
    threads_.run([&](member& thread) { ranks_->run_rank(thread, body, context); });
  } catch (...) {
    if (!is_of_this_process()) throw;  // the body has forked
    thrown = std::current_exception();
    // The exception may be that of a thread that only heard of the failure and left before the failed one.
    if (auto const original = ranks_->state().shared.failure.original()) thrown = original;
  }
  end(thrown);
}

/// All processes have left the previous round. What they share of it is forgotten, and channels continue at the
/// position of the furthest rank.
void team::state::begin() try {
  record own(occasion::beginning);
  own.furthest = ranks_->furthest();
  auto const together = agree(own).furthest;
  note_round(++round_);
  // No process continues before all are prepared: its channels might be behind.
  record prepared(occasion::prepared);
  std::exception_ptr thrown;
  try {
    bool const first_of_domain = part_.first == mine_.first;
    if (!ranks_->state().shared.kind.one_process && first_of_domain) ranks_->state().shared.failure.clear();
    if (messages_) messages_->begin(round_);
    ranks_->begin(round_, together);
  } catch (std::exception const&) {
    thrown = std::current_exception();
    prepared.unwell = self_;
    prepared.say(said_by(thrown));
  }
  record const everywhere = agree(prepared);
  if (thrown) std::rethrow_exception(thrown);
  if (everywhere.unwell != nobody)
    fail(words("process %d cannot begin its run(): %s", everywhere.unwell, everywhere.reason.data()));
} catch (std::exception const&) {
  std::exception_ptr const failed = std::current_exception();
  give_up(said_by(failed));
  rethrow(failed, words("process %d cannot begin its run(): no memory", self_));
}

/// A process whose ranks let an exception out tells the others before all agree on whether one did; once a process is
/// missing, no process is waited for. As on one machine, run() does not throw a failure that every body has caught.
void team::state::end(std::exception_ptr const& thrown) {
  detail::team_state& team = ranks_->state();
  bool const failed = team.shared.failure.recorded();
  if (thrown || failed) messages_->tell(team, "a rank ended with an exception");
  if (failed && team.shared.failure.first().first == runtime::cause::messages)
    broken_.emplace("%s", team.shared.failure.first().second);
  try {
    if (!broken_ && end_well(!thrown)) return;
  } catch (std::exception const&) {
    std::exception_ptr const lost = std::current_exception();
    give_up(said_by(lost));
    team.shared.fail(runtime::cause::messages, said_by(lost));
  }
  if (thrown) std::rethrow_exception(thrown);
  if (broken_) fail(*broken_);
  team.shared.failure.raise();
}

/// Whether no process has anything to throw. If some rank has failed, no message of this run is under way afterwards,
/// and all processes know the reason.
bool team::state::end_well(bool well) {
  detail::team_state& team = ranks_->state();
  record own(occasion::ending);
  own.failed = !well || team.shared.failure.recorded();
  if (!agree(own).failed) return true;
  ranks_->give_up_messages();
  messages_->offload_anew();
  record reason(occasion::clearing);
  if (!well) reason.unwell = self_;
  if (!well && team.shared.failure.recorded()) {
    auto const [why, words] = team.shared.failure.first();
    reason.why = why;
    reason.say(words);
  }
  // A process that gives up the rest of a message needs its sender here until then.
  record const everywhere = agree(reason);
  if (everywhere.unwell == nobody) return true;
  team.shared.fail(everywhere.why, everywhere.reason.data());
  return false;
}

/// Collective: whether all processes destroy the team, and can. If a process is gone or elsewhere, or MPI may still
/// read what a failed run has left behind, no process waits for the others, and all leave their resources to MPI. A
/// process that has agreed to destroy sends no notice of an end: others may have seen that all are here.
bool team::state::agree_to_destroy() noexcept try {
  if (lent() != nullptr && !end_membership()) {
    give_up("the team has been destroyed while threads were in it");
    return false;
  }
  if (broken_) return false;
  if (!messages_) return true;
  record own(occasion::destroying);
  if (messages_->has_left_behind()) own.unwell = self_;
  if (agree(own).unwell != nobody) return false;
  messages_->hear_the_rest();
  return true;
} catch (std::exception const&) {
  misses_a_process_ = true;
  return false;
}

/// Of adopted threads: whether none is inside. They will not come back, and may join other teams. After a failure no
/// message is under way that MPI might still write.
bool team::state::end_membership() {
  if (!lent()->close()) return false;
  ranks_->leave_for_good();
  if (messages_ && ranks_->state().shared.failed()) {
    messages_->tell(ranks_->state(), "a rank ended with an exception");
    ranks_->give_up_messages();
  }
  borrowed_.give_back();
  return true;
}

bool team::state::can_be_destroyed() noexcept {
  if (running_) return false;  // a body has called exit(): its run never ends
  leave();
  take();
  if (ended_with_mpi_) return true;
  if (is_finalized()) return false;
  if (agree_to_destroy()) return true;
  leave_to_mpi();
  return false;
}

/// Collective, as destroying is: other processes may destroy the team now.
void team::state::end_with_mpi() noexcept {
  if (running_) return;
  take();
  holding const until_here(in_use_);
  if (!agree_to_destroy()) {
    leave_to_mpi();
    return;
  }
  ranks_.reset();
  messages_.reset();
  connections_.give_back();
  ended_with_mpi_ = true;
}

}  // namespace coset::mpi
