// SPDX-License-Identifier: Apache-2.0
#include "team/failure.hpp"

#include <utility>

namespace coset::team_room {

void failure::record(cause why, std::string reason, std::exception_ptr original) noexcept {
  std::lock_guard const lock(writing_);
  if (flag_.load(std::memory_order_relaxed)) return;
  cause_ = why;
  reason_ = std::move(reason);
  original_ = std::move(original);
  flag_.store(true, std::memory_order_seq_cst);
}

void failure::raise() const {
  std::unique_lock lock(writing_);
  std::string const reason = reason_;
  cause const why = cause_;
  lock.unlock();
  switch (why) {
    case cause::mismatch: throw mismatch_error(reason);
    case cause::argument: throw argument_error(reason);
    case cause::timed_out: throw timed_out(reason);
    case cause::aborted: break;
  }
  throw aborted(reason);
}

std::exception_ptr failure::original() const {
  std::lock_guard const lock(writing_);
  return original_;
}

void failure::clear() noexcept {
  std::lock_guard const lock(writing_);
  flag_.store(false, std::memory_order_seq_cst);
  original_ = nullptr;
}

}  // namespace coset::team_room
