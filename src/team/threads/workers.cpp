// SPDX-License-Identifier: Apache-2.0
#include "team/threads/workers.hpp"

#include <cxxabi.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/text/format.hpp"
#include "numa/binding.hpp"
#include "runtime/failure/failure.hpp"
#include "runtime/failure/ranks_in_words.hpp"
#include "runtime/memory/told_to_sanitizer.hpp"
#include "runtime/requests.hpp"
#include "team/threads/idle_teams.hpp"

namespace coset::team_room {
namespace {

patience idle_patience(patience p) {
  p.sleeps = true;
  p.spins = std::min(p.spins, looks_in(long_spin));
  p.yields = 20;
  p.longest_sleep = std::chrono::milliseconds(500);  // how long teams may be idle beyond their time
  return p;
}

/// A thread takes the process's signals while it runs a body, as its maker would: asleep it would take those that a program waits for
/// with sigwait().
class signals_of_bodies {
 public:
  signals_of_bodies() noexcept { block(); }

  void become(sigset_t const& blocked) noexcept { own_ = blocked; }
  void admit() const noexcept { pthread_sigmask(SIG_SETMASK, &own_, nullptr); }
  void block() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &own_);
  }

 private:
  sigset_t own_;
};

}  // namespace

void job_signal::add_one() noexcept {
  runtime::tell_release(&word);
  word.fetch_add(1, std::memory_order_seq_cst);
  if (sleepers.load(std::memory_order_seq_cst) != 0) wake(word, half::low);
}

void job_signal::wait_for(std::uint64_t value, patience const& p) noexcept {
  wait_for(value, p, [] { return false; });
}

workers::workers(detail::team_state& team)
    : team_(team), idle_(idle_patience(team.shared.patience)), makers_(numa::affinity_of_process()) {
  team_.make_rank(0);
  numbers_.resize(team_.shared.ranks - 1);
  start_threads();
  done_.wait_for(threads_.size(), idle_);
  if (escaped_) {
    stop();
    std::rethrow_exception(escaped_);
  }
}

workers::~workers() { stop(); }

void workers::start_threads() {
  rank_t r = 1;
  auto const start = [&] { threads_.emplace_back([this, r] { work(r); }); };
  try {
    for (; r < team_.shared.ranks; ++r) idle_teams::made_with_their_room<std::system_error>(start);
  } catch (std::system_error const& e) {
    stop();
    throw topology_error(
        text::format("rank {} of a team of {}: the system cannot start more threads ({}); raise its limit "
                     "(ulimit -u, or pids.max of the cgroup) or make a team of at most {} ranks",
                     r, team_.shared.ranks, e.code().message(), r));
  } catch (...) {
    stop();
    throw;
  }
}

void workers::pin(rank_t rank) const try {
  if (team_.shape.pinned) {
    numa::bind_this_thread(team_.shape.places[rank].os_index);
  } else if (rank != 0 && makers_.confined) {
    makers_.processors.apply();  // if the kernel refuses, they stay where their maker is
  }
} catch (topology_error const& e) {
  throw topology_error(text::format("rank {} of a team of {}: {}", rank, team_.shared.ranks, e.what()));
}

void workers::stop() noexcept {
  stopping_ = true;
  jobs_.add_one();
  for (std::thread& t : threads_)
    if (t.joinable()) t.join();
}

bool workers::are_whole(scheduling const& wanted) const noexcept {
  auto const is_as_wanted = [&](pid_t thread) { return scheduling::of_thread(thread) == wanted; };
  return !running_ && !left_ && !lost_ && std::ranges::all_of(numbers_, is_as_wanted);
}

void workers::leave_after(std::chrono::nanoseconds time) noexcept {
  auto const at = std::chrono::steady_clock::now().time_since_epoch() + time;
  leave_at_.store(std::chrono::nanoseconds(at).count(), std::memory_order_relaxed);
}

bool workers::is_time_to_leave() const noexcept {
  auto const at = leave_at_.load(std::memory_order_relaxed);
  if (at == 0) return false;
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count() >= at;
}

std::thread workers::own_thread() noexcept {
  auto const own = std::ranges::find(threads_, std::this_thread::get_id(), &std::thread::get_id);
  return std::exchange(*own, std::thread());
}

void workers::begin_anew(inherited const& of_maker) noexcept {
  maker_ = of_maker;
  anew_from_ = runs_ + 1;
}

/// A body may have changed what belongs to its thread.
void workers::become_as_new(rank_t rank) const noexcept try {
  maker_->apply();
  if (!team_.shape.pinned) makers_.processors.apply();
  pin(rank);
} catch (topology_error const&) {  // the processor has gone since: the kernel has moved the thread
}

void workers::settle(rank_t rank) {
  numbers_[rank - 1] = gettid();
  pin(rank);
  team_.make_rank(rank);
}

void workers::work(rank_t rank) {
  idle_teams::begin_thread();
  signals_of_bodies signals;
  try {
    settle(rank);
  } catch (...) {
    std::lock_guard const lock(failing_);
    if (!escaped_) escaped_ = std::current_exception();
  }
  done_.add_one();
  for (std::uint64_t job = 1;; ++job) {
    while (!jobs_.wait_for(job, idle_, [this] { return is_time_to_leave(); }))
      if (idle_teams::retire(team_)) return;
    if (stopping_) return;
    struct ending {
      workers& of;
      ~ending() { of.done_.add_one(); }
    } const until_here{*this};
    if (job == anew_from_) {
      become_as_new(rank);
      signals.become(maker_->blocked());
    }
    signals.admit();
    execute(rank);
    if (!team_.shared.is_of_this_process()) return;  // the body has forked: in the child this thread is the only one
    signals.block();
  }
}

/// Catches every exception except the forced end of the thread, which must not be stopped, and what leaves a body in a forked
/// child: it ends the child's thread as it would end any other.
void workers::execute(rank_t rank) {
  detail::rank_state& state = *team_.members[rank];
  state.here.thread = std::this_thread::get_id();
  try {
    member me(state);
    body_(context_, me);
  } catch (abi::__forced_unwind const&) {
    fail(rank, nullptr, words("rank %u has ended its thread by pthread_exit() or cancellation", rank));
    if (rank != 0) lost_ = true;
    end_job(rank);
    throw;
  } catch (...) {
    if (!team_.shared.is_of_this_process()) throw;
    std::exception_ptr const thrown = std::current_exception();
    fail(rank, thrown, words("rank %u ended with an exception: %s", rank, what_of(thrown)));
  }
  end_job(rank);
}

/// Without an exception to rethrow, run() throws aborted with the reason.
void workers::fail(rank_t rank, std::exception_ptr const& thrown, std::string_view reason) noexcept {
  team_.shared.fail(cause::aborted, reason, thrown);
  team_.shared.quiesce(*team_.members[rank]);
  std::lock_guard const lock(failing_);
  if (!escaped_) escaped_ = thrown ? thrown : std::make_exception_ptr(aborted(std::string(reason)));
}

void workers::end_job(rank_t rank) noexcept {
  abandon_requests(*team_.members[rank]);
  // Partner: the acquire load of whoever waits for this rank in vain.
  team_.shared.left(rank).store(team_.shared.marks.generation, std::memory_order_release);
}

/// What done_ counts once all bodies so far have ended.
std::uint64_t workers::ends_of_all() const noexcept { return (runs_ + 1) * (team_.shared.ranks - 1); }

bool workers::have_ended() noexcept {
  return done_.wait_for(ends_of_all(), idle_, [] { return true; });
}

bool workers::can_stop() noexcept { return !running_ || (left_ && have_ended()); }

void workers::require_threads() const {
  if (team_.shared.process() != numa::process_number_by_the_system()) refuse_in_child("run()");
  if (lost_) throw aborted("run() of a team that lost a thread when a body ended it: make a new team");
}

/// For one run at a time.
void workers::claim() {
  if (left_ && have_ended() && left_.exchange(false)) running_ = false;
  if (!running_.exchange(true)) return;
  if (!left_) throw argument_error("run() inside run(), or by two threads at once: a team runs one body at a time");
  std::vector<rank_t> busy;
  for (rank_t r = 1; r < team_.shared.ranks; ++r) {
    if (team_.shared.left(r).load(std::memory_order_relaxed) != team_.shared.marks.generation) busy.push_back(r);
  }
  throw argument_error(text::format("run() after one that was interrupted, whose body {} has not ended yet",
                                    busy.empty() ? "of one rank" : "of " + ranks_in_words(busy)));
}

void workers::run(body what, void* context) {
  run_or_leave(what, context, [](void*) noexcept { return false; });
}

bool workers::run_or_leave(body what, void* context, leaving leaves) {
  require_threads();
  claim();
  std::optional<numa::saved_mask> mask;
  try {
    team_.begin_generation();
    if (team_.shape.pinned) {
      mask.emplace();
      pin(0);
    }
  } catch (...) {
    running_ = false;
    throw;
  }
  escaped_ = nullptr;
  body_ = what;
  context_ = context;
  ++runs_;
  jobs_.add_one();
  try {
    execute(0);
    require_this_process(team_.shared, "the end of a body");
  } catch (...) {  // this thread ends, and with it the body's frame
    if (!team_.shared.is_of_this_process()) throw;
    done_.wait_for(ends_of_all(), team_.shared.patience);
    running_ = false;
    throw;
  }
  if (!done_.wait_for(ends_of_all(), team_.shared.patience, [=] { return leaves(context); })) {
    left_ = true;
    return false;
  }
  mask.reset();
  std::exception_ptr thrown = escaped_;
  if (thrown && team_.shared.failure.original()) thrown = team_.shared.failure.original();
  running_ = false;
  if (thrown) std::rethrow_exception(thrown);
  return true;
}

}  // namespace coset::team_room
