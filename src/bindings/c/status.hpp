// SPDX-License-Identifier: Apache-2.0
// Exceptions stop here: each becomes a status and the thread's message.
#pragma once

#include <cxxabi.h>

#include <utility>

#include "coset/coset.h"
#include "coset/error.hpp"

namespace coset::capi {

/// A body returned a nonzero status of its own.
struct body_failed : error {
  using error::error;
};

/// The status of the exception that is being handled; its message becomes the thread's.
coset_status status_of_exception() noexcept;

/// The status of the calling thread's latest failure since forget_failure(); COSET_SUCCESS if there was none.
coset_status latest_failure() noexcept;
void forget_failure() noexcept;
/// Throws the exception for the thread's latest failure, with its message.
[[noreturn]] void throw_latest_failure();

/// Lets no exception out but the end of the thread by pthread_exit() in a body, which must not be stopped.
template <class Action>
coset_status guarded(Action&& action) {
  try {
    std::forward<Action>(action)();
    return COSET_SUCCESS;
  } catch (abi::__forced_unwind const&) {
    throw;
  } catch (...) {
    return status_of_exception();
  }
}

/// Throws argument_error if a handle or a place for a result is NULL, quoting its name.
void require(void const* pointer, char const* name);

}  // namespace coset::capi
