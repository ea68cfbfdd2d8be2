// SPDX-License-Identifier: Apache-2.0
// Requests as senders of std::execution (P2300). The header needs none of its implementations, which Debian 12 does not
// have: it completes receivers by their members, as C++26 has them. Where the standard library has senders, or
// COSET_EXECUTION is the namespace of another implementation whose header comes before this one (-DCOSET_EXECUTION=stdexec),
// it names that one's types and completes receivers by its functions.
#pragma once

#include "coset/detail/cxx20.hpp"

#include <concepts>
#include <exception>
#include <type_traits>
#include <utility>
#include <version>

#if defined(__cpp_lib_senders) && !defined(COSET_EXECUTION)
#include <execution>
#define COSET_EXECUTION std::execution
#endif

#include "coset/async/progress.hpp"

namespace coset::inline COSET_ABI {

// The type depends on the implementation: one program may have files with and without it.
#ifdef COSET_EXECUTION
inline namespace named_senders {
#else
inline namespace structural_senders {
#endif

/// A sender of no values. Made by sender_of().
template <class Start>
class request_sender {
 public:
#ifdef COSET_EXECUTION
  using sender_concept = COSET_EXECUTION::sender_t;
  using completion_signatures =
      COSET_EXECUTION::completion_signatures<COSET_EXECUTION::set_value_t(),
                                             COSET_EXECUTION::set_error_t(std::exception_ptr)>;
#endif

  request_sender(progress& loop, Start start) : loop_(&loop), start_(std::move(start)) {}

  template <class Receiver>
  class operation final : detail::continuation {
   public:
#ifdef COSET_EXECUTION
    using operation_state_concept = COSET_EXECUTION::operation_state_t;
#endif
    operation(progress& loop, Start start, Receiver receiver)
        : detail::continuation(go_on), loop_(loop), start_(std::move(start)), receiver_(std::move(receiver)) {}

    void start() noexcept {
      try {
        request_ = start_();
        loop_.add(*this);
      } catch (...) {
        complete(std::current_exception());
      }
    }

   private:
    static void go_on(detail::continuation& self, std::exception_ptr error) {
      static_cast<operation&>(self).complete(std::move(error));
    }

    void complete(std::exception_ptr error) noexcept {
#ifdef COSET_EXECUTION
      error ? COSET_EXECUTION::set_error(std::move(receiver_), std::move(error))
            : COSET_EXECUTION::set_value(std::move(receiver_));
#else
      error ? std::move(receiver_).set_error(std::move(error)) : std::move(receiver_).set_value();
#endif
    }

    progress& loop_;
    Start start_;
    Receiver receiver_;
  };

  template <class Receiver>
  operation<std::remove_cvref_t<Receiver>> connect(Receiver&& receiver) const& {
    return {*loop_, start_, std::forward<Receiver>(receiver)};
  }
  template <class Receiver>
  operation<std::remove_cvref_t<Receiver>> connect(Receiver&& receiver) && {
    return {*loop_, std::move(start_), std::forward<Receiver>(receiver)};
  }

 private:
  progress* loop_;
  Start start_;
};

/// `sender_of(loop, [&] { return coset::start_allreduce(me, x); })`: calls the function when it is started, on the member's
/// thread, and completes on that thread, inside the loop's poll() or run(). set_error() gets what the start, then at once,
/// or the team threw. An operation cannot be stopped, as other ranks depend on it: requests to stop are not asked for.
template <std::invocable Start>
requires std::same_as<std::invoke_result_t<Start&>, request> request_sender<Start> sender_of(progress& loop,
                                                                                             Start start) {
  return {loop, std::move(start)};
}

}  // namespace named_senders or structural_senders

}  // namespace coset
