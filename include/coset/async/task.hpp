// SPDX-License-Identifier: Apache-2.0
// Requests in coroutines: co_await coset::start_allreduce(me, x).
#pragma once

#include "coset/detail/cxx20.hpp"

#include <concepts>
#include <coroutine>
#include <exception>
#include <utility>

#include "coset/async/progress.hpp"
#include "coset/error.hpp"

namespace coset::inline COSET_ABI {

/// `co_await coset::completion(loop, start_allreduce(me, x))`, in coroutines of any type. Goes on inside the loop's poll()
/// or run(), never at once; progress says why. Throws what the team failed with.
class [[nodiscard]] completion final : detail::continuation {
 public:
  completion(progress& loop, request of) noexcept : detail::continuation(go_on, std::move(of)), loop_(loop) {}

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> awaiting) noexcept {
    awaiting_ = awaiting;
    loop_.add(*this);
  }
  void await_resume() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  static void go_on(detail::continuation& self, std::exception_ptr error) {
    auto& resumed = static_cast<completion&>(self);
    resumed.error_ = std::move(error);
    resumed.awaiting_.resume();
  }

  progress& loop_;
  std::coroutine_handle<> awaiting_;
  std::exception_ptr error_;
};

/// A coroutine on one rank's thread, for programs that have no coroutine type of their own. Inside,
/// `co_await start_…(me, …)` waits for a request and `co_await` of another task runs that one.
///
///     coset::task step(coset::member& me, layer& of) {
///       co_await coset::start_allreduce(me, of.gradient);
///       of.update();
///     }
///     coset::run_until_done(step(me, first), step(me, second));
///
/// It starts when it is run or awaited, unless it has been started before: then who awaits it only waits for its end.
/// Destroying one that is not done gives up its request, which aborts the team.
/// Every rank runs the same tasks in the same order; then their requests match, however many they start.
class [[nodiscard]] task {
 public:
  struct promise_type;
  using handle = std::coroutine_handle<promise_type>;

  task(task&& other) noexcept : coroutine_(std::exchange(other.coroutine_, {})) {}
  task& operator=(task&& other) noexcept {
    std::swap(coroutine_, other.coroutine_);
    return *this;
  }
  ~task() {
    if (coroutine_) coroutine_.destroy();
  }

  /// Runs it until it waits or is done; the loop resumes it. Throws argument_error if it has been started before.
  void start(progress& loop);
  bool done() const noexcept { return coroutine_.done(); }
  /// Throws what the coroutine threw.
  void result() const;

 private:
  explicit task(handle coroutine) noexcept : coroutine_(coroutine) {}

  handle coroutine_;
};

struct task::promise_type {
  /// At its end a task resumes who awaits it.
  struct at_end {
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(handle ended) const noexcept { return ended.promise().awaiting; }
    void await_resume() const noexcept {}
  };
  class awaiter {
   public:
    explicit awaiter(task of, progress& loop) noexcept : of_(std::move(of)), loop_(loop) {}
    bool await_ready() const noexcept { return of_.done(); }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> who) noexcept {
      promise_type& awaited = of_.coroutine_.promise();
      awaited.awaiting = who;
      if (awaited.loop != nullptr) return std::noop_coroutine();  // it waits already, and will be resumed
      awaited.loop = &loop_;
      return of_.coroutine_;
    }
    void await_resume() const { of_.result(); }

   private:
    task of_;
    progress& loop_;
  };

  task get_return_object() noexcept { return task(handle::from_promise(*this)); }
  std::suspend_always initial_suspend() const noexcept { return {}; }
  at_end final_suspend() const noexcept { return {}; }
  void return_void() const noexcept {}
  void unhandled_exception() noexcept { error = std::current_exception(); }

  completion await_transform(request of) const noexcept { return completion(*loop, std::move(of)); }
  awaiter await_transform(task of) const noexcept { return awaiter(std::move(of), *loop); }
  template <class Other>
  Other&& await_transform(Other&& other) const noexcept {
    return std::forward<Other>(other);
  }

  progress* loop = nullptr;  ///< null until it is started
  std::coroutine_handle<> awaiting = std::noop_coroutine();
  std::exception_ptr error;
};

inline void task::start(progress& loop) {
  progress*& resumes = coroutine_.promise().loop;
  if (resumes != nullptr) throw argument_error("a task is started twice");
  resumes = &loop;
  coroutine_.resume();
}

inline void task::result() const {
  if (coroutine_.promise().error) std::rethrow_exception(coroutine_.promise().error);
}

/// Runs tasks of this thread side by side until all are done, or one has thrown, which it throws; the others are given up.
/// The loop is its own: a task that awaits what only others resume, such as a completion of another loop or an awaitable
/// of another library, would stay unfinished; then it throws argument_error and gives up the tasks, which nobody may
/// resume any more.
template <std::same_as<task>... Tasks>
void run_until_done(Tasks... tasks) {
  progress loop;
  (tasks.start(loop), ...);
  do (tasks.result(), ...);
  while (loop.step());
  if (!(tasks.done() && ...)) throw argument_error("run_until_done: a task awaits what this loop does not resume");
}

}  // namespace coset
