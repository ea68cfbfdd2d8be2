// SPDX-License-Identifier: Apache-2.0
// What goes on when requests are complete, and the loop that finds out.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <concepts>
#include <exception>
#include <memory>
#include <utility>

#include "coset/request.hpp"

namespace coset::inline COSET_ABI {

class progress;

namespace detail {

/// Who waits in a loop for a request: a coroutine, a function, the state of a sender's operation. It leaves the loop when
/// it is destroyed, and with it the request is given up. Pointers to functions instead of virtual ones: copies of coset
/// in one process would share the tables of those.
class continuation {
 public:
  continuation(continuation const&) = delete;
  continuation& operator=(continuation const&) = delete;

 protected:
  /// `go_on`: the request is complete, or its team has failed with this error; out of the loop. May destroy the object.
  /// `discard` destroys an object that its loop owns.
  using next = void (*)(continuation&, std::exception_ptr);
  using end = void (*)(continuation&) noexcept;
  explicit continuation(next go_on, request of = {}, end discard = nullptr) noexcept
      : request_(std::move(of)), go_on_(go_on), discard_(discard) {}
  ~continuation() { leave(); }

  request request_;

 private:
  friend class coset::progress;

  void leave() noexcept {
    if (to_this_ == nullptr) return;
    *to_this_ = next_;
    if (next_ != nullptr) next_->to_this_ = to_this_;
    to_this_ = nullptr;
  }

  next go_on_;
  end discard_;
  continuation* next_ = nullptr;
  continuation** to_this_ = nullptr;  ///< null outside loops
};

}  // namespace detail

/// A loop of one thread: resumes what waits for the thread's requests, once they are complete.
///
/// Nothing advances requests but their member's own calls, so whoever awaits a request has to be resumed by such a call:
/// poll() or run(), of the thread whose rank has started it. Nothing is resumed by another thread, or inside another call
/// of coset. The order is that in which they began to wait, whichever request is complete first, and nothing goes on at
/// once: as operations match in the order of their starts, what is resumed may start the next one only if it is resumed
/// in the same order on all ranks. With poll(), when it is resumed depends on the rank's time; so what starts requests
/// goes with run(), or has a member of its own (split()).
///
/// A loop may serve several members of its thread. It outlives what waits in it.
class progress {
 public:
  progress() = default;
  progress(progress const&) = delete;
  progress& operator=(progress const&) = delete;
  /// Functions of then() that have not been called are not called any more; their requests are given up.
  ~progress() {
    while (first_ != nullptr) {
      detail::continuation& each = *first_;
      each.leave();
      if (each.discard_ != nullptr) each.discard_(each);
    }
  }

  /// Calls `function` when the request is complete: inside poll() or run(). If the team fails, these throw its error
  /// instead, as they throw what the function throws.
  template <std::invocable Function>
  void then(request of, Function function) {
    add(*new calling<Function>(std::move(of), std::move(function)));
  }

  /// Resumes what can go on without waiting. Whether anything is left. Tasks of coset::tbb::team may call it, too.
  bool poll() {
    while (first_ != nullptr && resumed_if([](request& of) { return of.test(); })) continue;
    advance_other_teams();
    return first_ != nullptr;
  }

  /// Until nothing is left. Waits as a blocking call does.
  void run() {
    while (step()) continue;
  }
  /// Waits for one request and resumes what waits for it. Whether there was any.
  bool step() {
    return first_ != nullptr && resumed_if([this](request& of) {
             if (serves_several_teams())
               of.wait([](void* loop) noexcept { static_cast<progress*>(loop)->advance_other_teams(); }, this);
             else
               of.wait();
             return true;
           });
  }

  /// For what waits by itself. At the end of the loop.
  void add(detail::continuation& waiting) noexcept {
    detail::continuation** end = &first_;
    while (*end != nullptr) end = &(*end)->next_;
    *end = &waiting;
    waiting.to_this_ = end;
    waiting.next_ = nullptr;
  }

 private:
  template <class Function>
  class calling final : public detail::continuation {
   public:
    calling(request of, Function function)
        : continuation(go_on, std::move(of), discard), function_(std::move(function)) {}

   private:
    static void go_on(continuation& self, std::exception_ptr error) {
      std::unique_ptr<calling> const called(static_cast<calling*>(&self));
      if (error) std::rethrow_exception(error);
      called->function_();
    }
    static void discard(continuation& self) noexcept { delete static_cast<calling*>(&self); }

    Function function_;
  };

  template <class Complete>
  bool resumed_if(Complete is_complete) {
    detail::continuation& oldest = *first_;
    std::exception_ptr error;
    try {
      if (!is_complete(oldest.request_)) return false;
    } catch (...) {
      error = std::current_exception();
    }
    oldest.leave();
    oldest.go_on_(oldest, std::move(error));
    return true;
  }

  bool serves_several_teams() const noexcept {
    for (detail::continuation* each = first_; each != nullptr; each = each->next_)
      if (!each->request_.advances_with(first_->request_)) return true;
    return false;
  }

  /// What advances the oldest request does not advance those of unrelated teams, whose ranks may wait for this one. What
  /// they throw, they throw again in their turn.
  void advance_other_teams() noexcept {
    for (detail::continuation* each = first_; each != nullptr; each = each->next_) {
      if (each->request_.advances_with(first_->request_)) continue;
      try {
        each->request_.test();
      } catch (...) {
      }
    }
  }

  detail::continuation* first_ = nullptr;
};

}  // namespace coset
